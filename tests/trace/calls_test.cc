// SPDX-License-Identifier: MIT
//
// Many different calls with known arguments, between two calls that nothing else makes: close(-77001) and
// close(-77002). oracle_test.py compares what a trace and strace say of them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <syscost/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace {

/// The kernel's result, with arguments of any kind.
template <class... Arguments>
long call(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}

int descriptor(long result) {
  return static_cast<int>(result);
}

void calls_of_files() {
  call(SYS_mkdir, "folder", 0755);
  call(SYS_mkdir, "folder", 0700);
  call(SYS_chdir, "folder");
  const int file = descriptor(call(SYS_openat, AT_FDCWD, "file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  const int again = descriptor(call(SYS_open, "file", O_RDONLY | O_NOFOLLOW));
  call(SYS_openat, AT_FDCWD, "none", O_RDONLY | O_NONBLOCK | O_DIRECTORY);
  call(SYS_openat, again, "file", O_WRONLY | O_APPEND | O_TRUNC);
  call(SYS_open, "a \"quoted\"\tname\n\x01\xff", O_RDONLY);
  call(SYS_write, file, "12345678", 8UL);
  call(SYS_pwrite64, file, "xy", 2UL, 100L);
  call(SYS_lseek, file, -2L, SEEK_END);
  char bytes[64] = {};
  call(SYS_read, file, bytes, 16UL);
  call(SYS_pread64, file, bytes, 4UL, 1L);
  iovec parts[2] = {{bytes, 3}, {bytes + 3, 5}};
  call(SYS_readv, again, parts, 2);
  call(SYS_writev, file, parts, 2);
  struct stat about {};
  call(SYS_newfstatat, AT_FDCWD, "file", &about, AT_SYMLINK_NOFOLLOW);
  call(SYS_fstat, file, &about);
  call(SYS_stat, "/none/at/all", &about);
  struct statx more {};
  call(SYS_statx, AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_SIZE | STATX_MODE, &more);
  call(SYS_access, "file", R_OK | W_OK);
  call(SYS_access, "file", F_OK);
  call(SYS_faccessat, AT_FDCWD, "none", X_OK);
  call(SYS_rename, "file", "renamed");
  call(SYS_renameat2, AT_FDCWD, "renamed", AT_FDCWD, "file", RENAME_NOREPLACE);
  call(SYS_link, "file", "linked");
  call(SYS_symlink, "file", "pointer");
  call(SYS_readlink, "pointer", bytes, sizeof bytes);
  call(SYS_chmod, "file", 0600);
  call(SYS_fchmod, file, 0644);
  call(SYS_umask, 022);
  call(SYS_truncate, "file", 10L);
  call(SYS_ftruncate, file, 4096L);
  call(SYS_fallocate, file, FALLOC_FL_KEEP_SIZE, 0L, 8192L);
  call(SYS_fadvise64, file, 0L, 0L, POSIX_FADV_SEQUENTIAL);
  call(SYS_flock, file, LOCK_EX | LOCK_NB);
  call(SYS_fcntl, file, F_GETFL);
  call(SYS_fcntl, file, F_SETFD, FD_CLOEXEC);
  call(SYS_fcntl, file, F_GETFD);
  call(SYS_fcntl, file, F_SETFL, O_NONBLOCK | O_APPEND);
  const int copy = descriptor(call(SYS_dup, file));
  call(SYS_dup3, file, copy, O_CLOEXEC);
  call(SYS_fsync, file);
  call(SYS_utimensat, AT_FDCWD, "file", nullptr, 0);
  struct statfs system {};
  call(SYS_fstatfs, file, &system);
  const int folder = descriptor(call(SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  char entries[1024];
  call(SYS_getdents64, folder, entries, sizeof entries);
  call(SYS_getcwd, bytes, 1UL);
  call(SYS_unlinkat, folder, "linked", 0);
  call(SYS_unlink, "pointer");
  call(SYS_unlink, "file");
  call(SYS_chdir, "..");
  call(SYS_unlinkat, AT_FDCWD, "folder", AT_REMOVEDIR);
  call(SYS_rmdir, "folder");
  for (const int one : {file, again, copy, folder}) call(SYS_close, one);
  call(SYS_close, -1);
  call(SYS_close_range, 900U, 901U, CLOSE_RANGE_CLOEXEC);
}

void calls_of_memory() {
  constexpr unsigned long kPage = 4096;
  const long place = call(SYS_mmap, nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
  call(SYS_mprotect, place, kPage, PROT_READ);
  call(SYS_madvise, place, kPage, MADV_DONTNEED);
  call(SYS_msync, place, kPage, MS_SYNC | MS_INVALIDATE);
  call(SYS_mlock, place, kPage);
  const long moved = call(SYS_mremap, place, 4 * kPage, 8 * kPage, MREMAP_MAYMOVE);
  call(SYS_munmap, moved, 8 * kPage);
  call(SYS_mmap, nullptr, 0UL, PROT_NONE, MAP_SHARED, -1, 0L);
  call(SYS_brk, nullptr);
  call(SYS_close, descriptor(call(SYS_memfd_create, "memory", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
}

void calls_of_sockets() {
  int ends[2] = {};
  call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
  call(SYS_sendto, ends[0], "abc", 3UL, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
  char bytes[8];
  call(SYS_recvfrom, ends[1], bytes, sizeof bytes, MSG_PEEK, nullptr, nullptr);
  call(SYS_ioctl, ends[1], FIONREAD, bytes);
  call(SYS_shutdown, ends[0], SHUT_RDWR);
  const int socket = descriptor(call(SYS_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP));
  const int one = 1;
  call(SYS_setsockopt, socket, SOL_SOCKET, SO_REUSEADDR, &one, static_cast<int>(sizeof one));
  call(SYS_setsockopt, socket, IPPROTO_TCP, TCP_NODELAY, &one, static_cast<int>(sizeof one));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  call(SYS_bind, socket, &address, static_cast<int>(sizeof address));
  call(SYS_listen, socket, 5);
  call(SYS_accept4, socket, nullptr, nullptr, SOCK_CLOEXEC);
  for (const int end : {ends[0], ends[1], socket}) call(SYS_close, end);
}

void calls_of_waits() {
  int ends[2] = {};
  call(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK);
  char bytes[8];
  call(SYS_read, ends[0], bytes, sizeof bytes);
  const int many = descriptor(call(SYS_epoll_create1, EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  call(SYS_epoll_ctl, many, EPOLL_CTL_ADD, ends[0], &event);
  call(SYS_epoll_wait, many, &event, 1, 0);
  pollfd one{ends[0], POLLIN, 0};
  call(SYS_poll, &one, 1, 0);
  call(SYS_splice, ends[0], nullptr, ends[1], nullptr, 1UL, SPLICE_F_NONBLOCK);
  const int counter = descriptor(call(SYS_eventfd2, 3, EFD_NONBLOCK | EFD_SEMAPHORE));
  const int timer = descriptor(call(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK));
  itimerspec when{};
  call(SYS_timerfd_settime, timer, TFD_TIMER_ABSTIME, &when, nullptr);
  const std::uint64_t mask = 1ULL << (SIGUSR1 - 1);
  const int signals = descriptor(call(SYS_signalfd4, -1, &mask, sizeof mask, SFD_CLOEXEC));
  const int watch = descriptor(call(SYS_inotify_init1, IN_NONBLOCK));
  call(SYS_inotify_add_watch, watch, "/", IN_CREATE | IN_ONLYDIR);
  for (const int end : {ends[0], ends[1], many, counter, timer, signals, watch}) call(SYS_close, end);
  int word = 1;
  call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
  const timespec soon{0, 1000};
  call(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, &soon);
  call(SYS_nanosleep, &soon, nullptr);
  call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &soon, nullptr);
}

void calls_of_processes() {
  call(SYS_getpid);
  call(SYS_gettid);
  call(SYS_getuid);
  call(SYS_getpgid, 0);
  call(SYS_sched_yield);
  rusage used{};
  call(SYS_getrusage, RUSAGE_SELF, &used);
  rlimit limit{};
  call(SYS_getrlimit, RLIMIT_NOFILE, &limit);
  call(SYS_prlimit64, 0, RLIMIT_CORE, nullptr, &limit);
  call(SYS_getpriority, PRIO_PROCESS, 0);
  call(SYS_kill, getpid(), 0);
  call(SYS_tgkill, getpid(), gettid(), 0);
  call(SYS_kill, 99999999, SIGTERM);
  std::uint64_t mask = 1ULL << (SIGUSR2 - 1);
  call(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, sizeof mask);
  call(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, nullptr, sizeof mask);
  call(SYS_rt_sigaction, SIGUSR2, nullptr, nullptr, sizeof mask);
  call(SYS_wait4, -1, nullptr, WNOHANG | __WALL, nullptr);
  call(SYS_alarm, 0);
  call(SYS_setitimer, ITIMER_REAL, nullptr, nullptr);
  char name[16] = {};
  call(SYS_prctl, PR_GET_NAME, name);
  call(SYS_getrandom, name, sizeof name, GRND_NONBLOCK);
  timespec now{};
  call(SYS_clock_gettime, CLOCK_REALTIME, &now);
  utsname system{};
  call(SYS_uname, &system);
  struct sysinfo about {};
  call(SYS_sysinfo, &about);
  cpu_set_t processors;
  call(SYS_sched_getaffinity, 0, sizeof processors, &processors);
  call(SYS_personality, 0xffffffffUL);
  call(SYS_membarrier, 0, 0, 0);
  call(SYS_getresuid, 1L, 2L, 3L);
}

TEST(Calls, AreMade) {
  close(-77001);
  calls_of_files();
  calls_of_memory();
  calls_of_sockets();
  calls_of_waits();
  calls_of_processes();
  close(-77002);
}

int ends_of_pipe[2];

/// Waits until `thread` waits in syscall `number`.
void wait_until_in(pid_t thread, long number) {
  const std::string file = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  for (long current = -1; current != number;) {
    current = -1;
    std::ifstream(file) >> current;
    usleep(100);  // so that few of these calls fill the trace
  }
}

/// For perfetto_test.py: threads, a scope of one thread in one of all, and a read that a handler interrupts and that
/// then goes on.
TEST(Slices, AreNested) {
  const syscost::Scope all("all", syscost::Reach::process);
  std::thread other([] { syscall(SYS_getppid); });
  other.join();
  {
    const syscost::Scope inner("inner");
    // This getppid is alone on its line.
    syscall(SYS_getppid);
  }
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (write(ends_of_pipe[1], "x", 1) != 1) abort();
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  ASSERT_EQ(pipe(ends_of_pipe), 0);
  const pid_t reader = gettid();
  std::thread sender([reader] {
    wait_until_in(reader, SYS_read);
    syscall(SYS_tgkill, getpid(), reader, SIGUSR1);
  });
  char byte = 0;
  EXPECT_EQ(read(ends_of_pipe[0], &byte, 1), 1);
  sender.join();
}

}  // namespace
