/* SPDX-License-Identifier: MIT
 *
 * Executes a program with an environment that was cleared, in each way that libc offers: executes WAY PROGRAM [ARG]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  const char* const way = argv[1];
  const char* const program = argv[2];
  char** const arguments = argv + 2;
  const char* const argument = argc > 3 ? argv[3] : NULL;
  char* const empty[] = {NULL};
  char* const replaced[] = {"LD_PRELOAD=", "ASAN_OPTIONS=detect_leaks=0", NULL};
  /* Who adds a variable behind one that is there; the last LD_PRELOAD holds. */
  static char blanks[20000] = "LD_PRELOAD=";
  memset(blanks + strlen(blanks), ' ', sizeof blanks - 1 - strlen(blanks));
  static char options[20000] = "ASAN_OPTIONS=";
  memset(options + strlen(options), ':', sizeof options - 1 - strlen(options));
  const char* const before = getenv("LD_PRELOAD");
  char first[4200] = "LD_PRELOAD=";
  if (before != NULL && strlen(before) < 4096) strcat(first, before);
  char* const twice[] = {first, "ASAN_OPTIONS=", blanks, options, NULL};
  pid_t child = 0;
  if (strcmp(way, "execve") == 0) execve(program, arguments, empty);
  if (strcmp(way, "replaced") == 0) execve(program, arguments, replaced);
  if (strcmp(way, "twice") == 0) execve(program, arguments, twice);
  if (strcmp(way, "null") == 0) execve(program, arguments, NULL);
  if (strcmp(way, "execvpe") == 0) execvpe(program, arguments, empty);
  if (strcmp(way, "execle") == 0) execle(program, program, argument, NULL, empty);
  if (strcmp(way, "fexecve") == 0) fexecve(open(program, O_RDONLY | O_CLOEXEC), arguments, empty);
  if (strcmp(way, "execveat") == 0) execveat(AT_FDCWD, program, arguments, empty, 0);
  if (strcmp(way, "nofollow") == 0) execveat(AT_FDCWD, program, arguments, empty, AT_SYMLINK_NOFOLLOW);
  if (strcmp(way, "empty") == 0)
    execveat(open(program, O_RDONLY), "", arguments, empty, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
  const char* const slash = strrchr(program, '/');
  if (strcmp(way, "folder") == 0 && slash != NULL) {
    char* const folder = strndup(program, (size_t)(slash - program));
    execveat(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), slash + 1, arguments, empty, 0);
  }
  if (strcmp(way, "posix_spawn") == 0 && posix_spawn(&child, program, NULL, NULL, arguments, empty) == 0)
    return wait_for(child);
  if (strcmp(way, "posix_spawnp") == 0 && posix_spawnp(&child, program, NULL, NULL, arguments, empty) == 0)
    return wait_for(child);
  if (strcmp(way, "vfork") == 0) {
    child = vfork();
    if (child == 0) {
      execve(program, arguments, empty);
      _exit(97);
    }
    return wait_for(child);
  }
  clearenv();
  if (strcmp(way, "execv") == 0) execv(program, arguments);
  if (strcmp(way, "execvp") == 0) execvp(program, arguments);
  if (strcmp(way, "execl") == 0) execl(program, program, argument, NULL);
  if (strcmp(way, "execlp") == 0) execlp(program, program, argument, NULL);
  perror(way);
  return 96;
}
