// SPDX-License-Identifier: MIT
//
// A library of somebody else, at a place where a program may look for libsyscost.so.0.
#include <unistd.h>

__attribute__((constructor)) static void come_in() {
  static_cast<void>(!write(STDOUT_FILENO, "the foreign library runs\n", 25));
}
