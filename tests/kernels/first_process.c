// SPDX-License-Identifier: MIT
//
// The first process of a virtual machine that runs another kernel on this machine's files.
//
// It loads the modules that reach the files. It mounts them as the root, and keeps all writes in memory. Then it runs
// the command, and powers off. It is static and needs no shell, because it is the only file of the initial file system
// (machine.py).
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUT "/run/syscost-kernels"

static void fail(const char* what, const char* object) {
  printf("first process: cannot %s %s: %s\n", what, object, strerror(errno));
  fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
}

static void attach(const char* source, const char* target, const char* type, unsigned long flags, const char* options) {
  mkdir(target, 0755);
  if (mount(source, target, type, flags, options) != 0) fail("mount", target);
}

// Mounts a file system that older kernels may lack.
static void attach_if_there(const char* type, const char* target) {
  if (mount(type, target, type, 0, NULL) != 0) printf("first process: no %s on %s\n", type, target);
}

// One module a line, each after those it needs.
static void load_modules(void) {
  FILE* order = fopen("/modules/order", "r");
  if (order == NULL) fail("read", "/modules/order");
  char path[256];
  while (order != NULL && fscanf(order, "%255s", path) == 1) {
    const int file = open(path, O_RDONLY);
    if (syscall(SYS_finit_module, file, "", 0) != 0 && errno != EEXIST) fail("load", path);
    close(file);
  }
  fclose(order);
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  const int any = socket(AF_INET, SOCK_DGRAM, 0);
  if (ioctl(any, SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags |= IFF_UP;
    ioctl(any, SIOCSIFFLAGS, &request);
  }
  close(any);
}

static void enter_root(void) {
  attach("root", "/lower", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=512000,cache=loose");
  attach("memory", "/memory", "tmpfs", 0, "size=75%");
  mkdir("/memory/upper", 0755);
  mkdir("/memory/work", 0755);
  attach("root", "/new", "overlay", 0, "lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work");
  if (chdir("/new") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 || chdir("/") != 0) {
    fail("enter", "the root");
  }
  attach("proc", "/proc", "proc", 0, NULL);
  attach("sysfs", "/sys", "sysfs", 0, NULL);
  attach("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  attach("devpts", "/dev/pts", "devpts", 0, "gid=5,mode=620,ptmxmode=666");
  attach("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
  attach("tmpfs", "/run", "tmpfs", 0, "mode=755");
  attach_if_there("cgroup2", "/sys/fs/cgroup");
  attach_if_there("bpf", "/sys/fs/bpf");
  attach_if_there("securityfs", "/sys/kernel/security");
  attach_if_there("debugfs", "/sys/kernel/debug");
  attach_if_there("tracefs", "/sys/kernel/tracing");
  const char* links[][2] = {{"/proc/self/fd", "/dev/fd"},
                            {"/proc/self/fd/0", "/dev/stdin"},
                            {"/proc/self/fd/1", "/dev/stdout"},
                            {"/proc/self/fd/2", "/dev/stderr"}};
  for (int i = 0; i < 4; ++i) {
    if (symlink(links[i][0], links[i][1]) != 0) printf("first process: no %s\n", links[i][1]);
  }
  attach("out", OUT, "9p", 0, "trans=virtio,version=9p2000.L,msize=512000,cache=none");
  raise_loopback();
}

static void run_command(void) {
  const int input = open("/dev/null", O_RDONLY);
  const int output = open(OUT "/log", O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(input, 0);
  dup2(output, 1);
  dup2(output, 2);
  setsid();
  char* const command[] = {"/bin/sh", OUT "/command", NULL};
  char* const environment[] = {"HOME=/root",
                               "USER=root",
                               "LANG=C.UTF-8",
                               "TERM=dumb",
                               "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                               NULL};
  execve(command[0], command, environment);
  _exit(127);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  attach("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  load_modules();
  enter_root();
  const pid_t child = fork();
  if (child == 0) run_command();
  int status = 0;
  // Orphans come to the first process; each is waited for.
  for (pid_t ended = 0; ended != child;) ended = wait(&status);
  FILE* exit_file = fopen(OUT "/exit", "w");
  if (exit_file != NULL) {
    fprintf(exit_file, "%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fclose(exit_file);
  }
  sync();
  reboot(RB_POWER_OFF);
  return 1;
}
