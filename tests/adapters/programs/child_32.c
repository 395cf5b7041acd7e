/* SPDX-License-Identifier: MIT
 *
 * A program of 32 bits that needs no library of 32 bits: 3 calls to getppid. */
static long make_call(long number, long argument) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(argument) : "memory");
  return result;
}

void _start(void) {
  for (int i = 0; i < 3; ++i) make_call(64 /* getppid */, 0);
  make_call(1 /* exit */, 0);
}
