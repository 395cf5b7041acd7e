// SPDX-License-Identifier: MIT
//
// Marks what libsyscost.so shows to the outside; everything else in it, libbpf included, stays hidden.
#pragma once

// Linking syscost leaves a project's language alone; only code that includes its headers needs this one.
#if __cplusplus < 201703L
#error "syscost's headers need C++17 (-std=c++17; CMake: target_compile_features(your_test PRIVATE cxx_std_17))"
#endif

#define SYSCOST_EXPORT __attribute__((visibility("default")))
