/* SPDX-License-Identifier: MIT
 *
 * Stands for a static test program whose framework is not measured there: it has a text of doctest's.
 */
#include <stdio.h>

int main(void) {
  puts("N7doctest9IReporterE");
  return 0;
}
