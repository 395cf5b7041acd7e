/* SPDX-License-Identifier: MIT
 *
 * Stands for a test program into which nothing can be preloaded: it has a text that each program with GoogleTest has.
 */
#include <stdio.h>

int main(void) {
  puts("[ RUN      ] Suite.Test");
  return 0;
}
