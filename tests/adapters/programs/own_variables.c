/* SPDX-License-Identifier: MIT
 *
 * A library that defines the names of libc's and the loader's variables for itself. */
char** environ = 0;
char* program_invocation_name = 0;
char* program_invocation_short_name = 0;
struct {
  char bytes[64];
} _r_debug;
