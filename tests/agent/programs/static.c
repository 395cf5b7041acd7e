/* SPDX-License-Identifier: MIT
 *
 * Stands for a static test program of a framework that is not measured there: it has a text of doctest's.
 */
#include <stdio.h>

int main(void) {
  puts("N7doctest9IReporterE");
  return 0;
}
