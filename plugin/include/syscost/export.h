// SPDX-License-Identifier: MIT
//
// Marks what libsyscost.so shows to the outside; everything else in it, libbpf included, stays hidden.
#pragma once

#define SYSCOST_EXPORT __attribute__((visibility("default")))
