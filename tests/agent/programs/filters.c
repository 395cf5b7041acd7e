/* SPDX-License-Identifier: MIT
 *
 * Installs a seccomp filter and then writes five lines: filters WAY
 *   strict      the kernel's strict mode
 *   kills       kills the process for each call but four; rt_sigreturn is none of them
 *   denies      the same with an error
 *   usual       kills it for prctl, sigaltstack and gettid, which no program here needs
 *   no_threads  the same, and then makes a thread
 *   listener    kills it for prctl, with a listener for others, and then makes a child */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

static void* write_line(void* nothing) {
  return write(1, "thread\n", 7) == 7 ? nothing : NULL;
}

/* `answer` for the calls of the list, or for all others. */
static int filter(const int* calls, size_t count, unsigned listed, unsigned others, int listens) {
  struct sock_filter code[16];
  size_t at = 0;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < count; ++i) {
    code[at++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(count - i), 0);
  }
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
  struct sock_fprog program = {(unsigned short)at, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  if (listens) return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  const char* const way = argv[1];
  const int few[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group};
  const int of_threads[] = {SYS_prctl, SYS_sigaltstack, SYS_gettid};
  int failed = 0;
  if (strcmp(way, "strict") == 0) {
    failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  } else if (strcmp(way, "usual") == 0 || strcmp(way, "no_threads") == 0) {
    failed = filter(of_threads, LENGTH(of_threads), SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW, 0);
  } else if (strcmp(way, "listener") == 0) {
    failed = filter(of_threads, 1, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW, 1);
  } else {
    const unsigned others = strcmp(way, "kills") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1;
    failed = filter(few, LENGTH(few), SECCOMP_RET_ALLOW, others, 0);
  }
  if (failed) return 97;
  for (int i = 0; i < 5; ++i) {
    if (write(1, "line\n", 5) != 5) return 96;
  }
  if (strcmp(way, "listener") == 0) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) _exit(write(1, "child\n", 6) != 6);
    if (waitpid(child, &status, 0) != child || status != 0) return 95;
  }
  pthread_t thread;
  if (strcmp(way, "no_threads") == 0 && pthread_create(&thread, NULL, write_line, NULL) == 0)
    pthread_join(thread, NULL);
  syscall(SYS_exit, 0);
}
