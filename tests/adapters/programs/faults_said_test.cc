// SPDX-License-Identifier: MIT
//
// Calls that fail by flags or to the end of the process: the tests print what they saw, for others to compare.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <iostream>
#include <string>
#include <thread>

#include "faults_case.h"

namespace adapter_tests {
namespace {

/// For --syscost_inject and --syscost_forbid: these say what they saw.
class Flags : public Faults {
 protected:
  void make_calls(const char* name) const {
    std::string seen;
    for (int i = 0; i < 6; ++i) {
      errno = 0;
      const auto result = lseek(null_, 0, SEEK_CUR);
      seen += " " + std::to_string(result) + ":" + std::to_string(errno);
    }
    std::thread([&] { seen += lseek(null_, 0, SEEK_CUR) < 0 ? " thread failed" : " thread"; }).join();
    std::cout << name << seen << std::endl;
  }
};
TEST_F(Flags, One) {
  make_calls("one");
}
TEST_F(Flags, Two) {
  make_calls("two");
}

/// Each syscall of the list three times, with arguments that the kernel refuses or that change nothing: compared with
/// the same program under strace.
TEST(Oracle, EachCallThreeTimes) {
  struct Named {
    const char* name;
    long number;
  };
#define SYSCOST_NAMED(name) \
  Named {                   \
#name, SYS_##name       \
  }
  constexpr Named kCalls[] = {
      SYSCOST_NAMED(getppid),        SYSCOST_NAMED(lseek),         SYSCOST_NAMED(dup),
      SYSCOST_NAMED(dup2),           SYSCOST_NAMED(dup3),          SYSCOST_NAMED(pipe2),
      SYSCOST_NAMED(socket),         SYSCOST_NAMED(bind),          SYSCOST_NAMED(listen),
      SYSCOST_NAMED(accept4),        SYSCOST_NAMED(connect),       SYSCOST_NAMED(shutdown),
      SYSCOST_NAMED(sendto),         SYSCOST_NAMED(recvfrom),      SYSCOST_NAMED(sendmsg),
      SYSCOST_NAMED(recvmsg),        SYSCOST_NAMED(getsockname),   SYSCOST_NAMED(setsockopt),
      SYSCOST_NAMED(chdir),          SYSCOST_NAMED(fchdir),        SYSCOST_NAMED(mkdir),
      SYSCOST_NAMED(rmdir),          SYSCOST_NAMED(unlink),        SYSCOST_NAMED(unlinkat),
      SYSCOST_NAMED(rename),         SYSCOST_NAMED(renameat2),     SYSCOST_NAMED(link),
      SYSCOST_NAMED(symlink),        SYSCOST_NAMED(chmod),         SYSCOST_NAMED(fchmod),
      SYSCOST_NAMED(chown),          SYSCOST_NAMED(truncate),      SYSCOST_NAMED(ftruncate),
      SYSCOST_NAMED(fsync),          SYSCOST_NAMED(fdatasync),     SYSCOST_NAMED(syncfs),
      SYSCOST_NAMED(flock),          SYSCOST_NAMED(fallocate),     SYSCOST_NAMED(getdents64),
      SYSCOST_NAMED(getpgid),        SYSCOST_NAMED(getsid),        SYSCOST_NAMED(getpriority),
      SYSCOST_NAMED(epoll_create1),  SYSCOST_NAMED(epoll_ctl),     SYSCOST_NAMED(eventfd2),
      SYSCOST_NAMED(timerfd_create), SYSCOST_NAMED(inotify_init1), SYSCOST_NAMED(memfd_create),
      SYSCOST_NAMED(getrusage),      SYSCOST_NAMED(getitimer),     SYSCOST_NAMED(sched_getparam),
      SYSCOST_NAMED(mincore),        SYSCOST_NAMED(msync),         SYSCOST_NAMED(mlock),
      SYSCOST_NAMED(statfs),         SYSCOST_NAMED(fstatfs),       SYSCOST_NAMED(utimensat),
      SYSCOST_NAMED(sendfile),       SYSCOST_NAMED(splice),        SYSCOST_NAMED(copy_file_range),
      SYSCOST_NAMED(waitid),         SYSCOST_NAMED(personality),   SYSCOST_NAMED(pwritev),
      SYSCOST_NAMED(preadv),         SYSCOST_NAMED(rt_sigaction),  SYSCOST_NAMED(sigaltstack),
      SYSCOST_NAMED(signalfd4),      SYSCOST_NAMED(epoll_pwait),   SYSCOST_NAMED(tgkill),
  };
#undef SYSCOST_NAMED
  std::string text;
  for (const Named& call : kCalls) {
    text += std::string("call ") + call.name;
    for (int i = 0; i < 3; ++i) {
      errno = 0;
      const long result = call.number == SYS_getppid ? (syscall(call.number) > 0 ? 1 : -1)
                                                     : syscall(call.number, -1, -1, -1, -1, -1, -1);
      text += " " + std::to_string(result) + ":" + std::to_string(errno);
    }
    text += "\n";
  }
  std::cout << text << std::flush;
}

/// The same calls in each of some threads, some after each other and some at a time.
TEST(Oracle, CallsOfThreads) {
  constexpr int kThreads = 6;
  std::array<std::string, kThreads> seen;
  const auto body = [&seen](std::size_t index) {
    for (int i = 0; i < 5; ++i) {
      for (const long number : {SYS_getpgid, SYS_dup, SYS_umask}) {
        errno = 0;
        const long result = syscall(number, number == SYS_umask ? 022 : -1);
        seen[index] += " " + std::to_string(result < 0 ? result : 0) + ":" + std::to_string(errno);
      }
    }
  };
  body(0);
  std::thread(body, 1).join();
  std::thread(body, 2).join();
  std::array<std::thread, 3> at_a_time;
  for (std::size_t i = 0; i < at_a_time.size(); ++i) at_a_time[i] = std::thread(body, 3 + i);
  for (std::thread& thread : at_a_time) thread.join();
  std::string text;
  for (int i = 0; i < kThreads; ++i) text += "thread " + std::to_string(i) + seen[static_cast<std::size_t>(i)] + "\n";
  std::cout << text << std::flush;
}

/// A fault that nothing ends: the row of its test, and those of later ones, are written all the same.
TEST(Stays, ToTheEndOfTheProcess) {
  static auto* const fault = new syscost::Fault("write", ENOSPC, syscost::each(), syscost::Reach::process);
  const int error = write_error(STDERR_FILENO);
  static auto* const others =
      new syscost::Fault("%file,fcntl,fstat,flock,pwrite64", EIO, syscost::each(), syscost::Reach::process);
  EXPECT_TRUE(fault->is_active() && others->is_active());
  const std::string text = "still open " + std::to_string(error) + "\n";
  iovec part = {const_cast<char*>(text.data()), text.size()};
  EXPECT_EQ(writev(STDOUT_FILENO, &part, 1), static_cast<ssize_t>(text.size()));
}

}  // namespace
}  // namespace adapter_tests
