/* SPDX-License-Identifier: MIT
 *
 * Makes a child by clone3 with CLONE_CLEAR_SIGHAND, as posix_spawn of glibc 2.41 does: clears_handlers WAY
 *   shared   in its maker's memory, on a stack of its own, while the maker waits; it then executes /bin/true
 *   copied   with memory of its own; it checks that its handlers are gone, and counts on
 * Ends with 0 if the child did all that it should. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));

static void handle(int signal) {
  (void)signal;
}

static int has_default(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
}

static void execute_true(void) {
  char* const arguments[] = {(char*)"true", NULL};
  char* const environment[] = {NULL};
  for (int i = 0; i < 5; ++i) getppid();
  execve("/bin/true", arguments, environment);
  _exit(9);
}

/* clone3 with a child that begins on `arguments->stack` and calls `begin`. */
static long clone3_on_stack(struct clone_args* arguments, void (*begin)(void)) {
  long result = SYS_clone3;
  register void (*child)(void) __asm__("r8") = begin;
  __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tcall *%%r8\n\tud2\n1:"
                   : "+a"(result), "+r"(child)
                   : "D"(arguments), "S"(sizeof *arguments)
                   : "rcx", "r11", "memory");
  return result;
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  const int is_shared = strcmp(argv[1], "shared") == 0;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGSYS, &action, NULL);
  struct clone_args arguments;
  memset(&arguments, 0, sizeof arguments);
  arguments.flags = CLONE_CLEAR_SIGHAND;
  arguments.exit_signal = SIGCHLD;
  long child = 0;
  if (is_shared) {
    arguments.flags |= CLONE_VM | CLONE_VFORK;
    arguments.stack = (uint64_t)(uintptr_t)stack;
    arguments.stack_size = sizeof stack;
    child = clone3_on_stack(&arguments, execute_true);
  } else {
    child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) {
      for (int i = 0; i < 5; ++i) getppid();
      _exit(has_default(SIGUSR1) && has_default(SIGSYS) ? 0 : 8);
    }
  }
  int status = 0;
  if (child < 0 || waitpid((pid_t)child, &status, 0) != child) return 97;
  /* The maker keeps its own. */
  if (has_default(SIGUSR1) || has_default(SIGSYS)) return 96;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 95;
}
