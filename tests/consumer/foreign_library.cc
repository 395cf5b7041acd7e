// SPDX-License-Identifier: MIT
//
// What somebody else put where a libsyscost.so.0 might be looked for.
#include <unistd.h>

__attribute__((constructor)) static void come_in() {
  static_cast<void>(!write(STDOUT_FILENO, "the foreign library runs\n", 25));
}
