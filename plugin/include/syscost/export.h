// SPDX-License-Identifier: MIT
//
// Marks the functions that libsyscost.so exports. The library hides everything else.
#pragma once

// A program of any C++ standard may link syscost. Code that includes its headers needs C++17.
#if __cplusplus < 201703L
#error "syscost's headers need C++17 (-std=c++17; CMake: target_compile_features(your_test PRIVATE cxx_std_17))"
#endif

#define SYSCOST_EXPORT __attribute__((visibility("default")))
