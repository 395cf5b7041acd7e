// SPDX-License-Identifier: MIT
//
// The shared library has no code of its own: it is its parts, linked together. CMake wants one source file.
