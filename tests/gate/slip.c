// SPDX-License-Identifier: MIT
//
// Preloaded into a test program, this makes one system call more than the program does: the mutation that a gate must
// notice. It stands in clock_gettime(), which GoogleTest calls as each test's body begins.
//
// SLIP_AT=N         with the N-th call of clock_gettime(CLOCK_MONOTONIC) of the process, counted from 1; 0: never
// SLIP_COUNT=FILE   at the end, how many such calls there were
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long calls;
static long slip_at = -1;
static pid_t owner;

int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*next)(clockid_t, struct timespec*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  if (slip_at < 0) {
    const char* at = getenv("SLIP_AT");
    slip_at = at ? atol(at) : 0;
    owner = getpid();
  }
  if (clock == CLOCK_MONOTONIC && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == slip_at && getpid() == owner) {
    syscall(SYS_getppid);
  }
  return next(clock, time);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("SLIP_COUNT");
  if (!path || getpid() != owner) return;
  FILE* file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}
