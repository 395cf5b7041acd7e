// SPDX-License-Identifier: MIT
//
// Preloaded into a test program, this makes one system call more than the program does: the mutation that a gate must
// notice. It stands in clock_gettime(), which GoogleTest calls as each test's body begins and when it has ended.
//
// SLIP_AT=N         with the N-th call of clock_gettime(CLOCK_MONOTONIC) of the process, counted from 1; 0: never
// SLIP_CALL=NAME    which: getppid (the default), lseek, write, read, openat (of a file that is not there)
// SLIP_COUNT=FILE   at the end, how many such calls there were
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long calls;
static long slip_at = -1;
static int is_child;

static void note_child(void) {
  is_child = 1;
}
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, note_child);
}

static void slip(void) {
  const char* name = getenv("SLIP_CALL");
  const int kept = errno;
  if (!name || !strcmp(name, "getppid")) {
    syscall(SYS_getppid);
  } else if (!strcmp(name, "lseek")) {
    syscall(SYS_lseek, 1, 0, SEEK_CUR);
  } else if (!strcmp(name, "write")) {
    syscall(SYS_write, 1, "", 0);
  } else if (!strcmp(name, "read")) {
    syscall(SYS_read, 0, "", 0);
  } else if (!strcmp(name, "openat")) {
    syscall(SYS_openat, AT_FDCWD, "/slip/is/not/there", O_RDONLY);
  }
  errno = kept;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*next)(clockid_t, struct timespec*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  if (slip_at < 0) {
    const char* at = getenv("SLIP_AT");
    slip_at = at ? atol(at) : 0;
  }
  if (clock == CLOCK_MONOTONIC && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == slip_at && !is_child) slip();
  return next(clock, time);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("SLIP_COUNT");
  if (!path || is_child) return;
  FILE* file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}
