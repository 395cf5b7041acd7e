// SPDX-License-Identifier: MIT
//
// Calls that fail, and forbidden ones, in tests. Those that are expected to fail are in `Forbidden`.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>

#include "syscost/faults.h"
#include "syscost/gtest.h"
#include "syscost/loop.h"

namespace {

/// The errno of a write; 0 for success.
int write_error(int descriptor) {
  return write(descriptor, "x", 1) == 1 ? 0 : errno;
}

/// A caller that is on the stack.
__attribute__((noinline)) bool opens(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  close(descriptor);
  return descriptor >= 0;
}

class Faults : public testing::Test {
 protected:
  ~Faults() override { close(null_); }
  int null_ = open("/dev/null", O_WRONLY | O_CLOEXEC);
};

TEST_F(Faults, FailTheThirdWrite) {
  std::array<int, 4> errors{};
  syscost::Fault fault("write", ENOSPC, syscost::nth(3));
  for (int& error : errors) error = write_error(null_);
  EXPECT_EQ(fault.matches(), 4U);
  EXPECT_EQ(fault.hits(), 1U);
  EXPECT_EQ(errors, (std::array<int, 4>{0, 0, ENOSPC, 0}));
}

TEST_F(Faults, AreCountedAsCalls) {
  syscost::Fault fault("write", EIO, syscost::every(2));
  const syscost::Cost cost = syscost::measure([&] {
    for (int i = 0; i < 10; ++i) write_error(null_);
  });
  EXPECT_EQ(cost.calls("write"), 10);
  EXPECT_EQ(cost.errors("write", EIO), 5);
}

TEST_F(Faults, OfAThreadLeaveOthersAlone) {
  syscost::Fault fault("write", EIO);
  int other = -1;
  std::thread([&] { other = write_error(null_); }).join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(write_error(null_), EIO);
}

TEST_F(Faults, OfTheProcessReachAll) {
  syscost::Fault fault("write", EIO, syscost::each(), syscost::Reach::process);
  int other = -1;
  std::thread([&] { other = write_error(null_); }).join();
  EXPECT_EQ(other, EIO);
}

TEST_F(Faults, OfTheProcessMayCountEachThreadByItself) {
  syscost::Fault fault("write", EIO, syscost::nth(2).in_each_thread(), syscost::Reach::process);
  const auto errors = [&] { return std::array<int, 3>{write_error(null_), write_error(null_), write_error(null_)}; };
  std::array<int, 3> other{};
  std::thread([&] { other = errors(); }).join();
  EXPECT_EQ(other, (std::array<int, 3>{0, EIO, 0}));
  EXPECT_EQ(errors(), (std::array<int, 3>{0, EIO, 0}));
  EXPECT_EQ(fault.hits(), 2U);
}

TEST_F(Faults, Nest) {
  syscost::Fault outer("write", EIO);
  {
    syscost::Fault inner("write", ENOSPC, syscost::first(1));
    EXPECT_EQ(write_error(null_), ENOSPC);
    EXPECT_EQ(write_error(null_), EIO);
  }
  EXPECT_EQ(write_error(null_), EIO);
  EXPECT_EQ(outer.hits(), 2U);
}

TEST_F(Faults, ShortenAndDelay) {
  using namespace std::chrono_literals;
  syscost::Fault shortened("write", syscost::shorten(2));
  EXPECT_EQ(write(null_, "12345", 5), 2);
  syscost::Fault delayed("write", syscost::delay(1ms));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(write(null_, "12", 2), 2);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 1ms);
  EXPECT_EQ(shortened.hits(), 1U);
  EXPECT_EQ(delayed.hits(), 1U);
}

/// syscost's own calls meet no fault: a measurement ends, a scope writes its row.
TEST_F(Faults, DoNotHitSyscost) {
  const syscost::LeakCheck check;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // Their runtimes map memory on the program's threads, and end the program if they get none.
  const char* const all = "%file,%desc,%process,!%memory";
#else
  const char* const all = "%file,%desc,%memory,%process";
#endif
  syscost::Fault fault(all, EIO);
  syscost::Scope scope("inside");
  EXPECT_EQ(write_error(null_), EIO);
  EXPECT_EQ(scope.stop().errors("write"), 1);
  EXPECT_EQ(check.left(), "");
}

TEST_F(Faults, InTheBodyOfALoop) {
  int failed = 0;
  int calls = 0;
  syscost::Fault fault("write", EIO, syscost::every(2));
  for (auto _ : syscost::loop("failing")) {
    ++calls;
    failed += write_error(null_) != 0 ? 1 : 0;
  }
  EXPECT_EQ(failed, calls / 2);
  EXPECT_EQ(fault.matches(), static_cast<std::uint64_t>(calls));
}

TEST_F(Faults, AreInertInAForkChild) {
  syscost::Fault fault("getppid", EIO);
  EXPECT_EXIT(_exit(getppid() > 0 ? 7 : 8), testing::ExitedWithCode(7), "");
}

TEST_F(Faults, InsideADeathTest) {
  const auto fail = [&] {
    syscost::Fault fault("write", EIO);
    _exit(fault.is_active() ? 1 : write_error(null_));
  };
  EXPECT_EXIT(fail(), testing::ExitedWithCode(0), "");
}

TEST_F(Faults, OfAFile) {
  std::string folder = testing::TempDir() + "syscost-faults-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr) << strerror(errno);
  const std::string file = folder + "/a";
  const auto opens = [](const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return descriptor >= 0 ? descriptor : -errno;
  };
  const int one = opens(file);
  const int other = opens(folder + "/ab");
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  {
    syscost::Fault fault("write", EIO, syscost::each().on_descriptor(one));
    EXPECT_EQ(write_error(one), EIO);
    EXPECT_EQ(write_error(other), 0);
  }
  {
    syscost::Fault fault("write,openat,unlink", EIO, syscost::each().on_path(file));
    EXPECT_EQ(write_error(one), EIO);
    EXPECT_EQ(write_error(other), 0);
    EXPECT_EQ(opens(folder + "//./x/../a"), -EIO);
    EXPECT_EQ(unlink((folder + "/none").c_str()) < 0 ? errno : 0, ENOENT);
    ASSERT_EQ(chdir(folder.c_str()), 0);
    EXPECT_EQ(opens("a"), -EIO);
    const int directory = open(".", O_PATH | O_CLOEXEC);
    ASSERT_EQ(chdir("/"), 0);
    EXPECT_EQ(openat(directory, "a", O_RDONLY | O_CLOEXEC) < 0 ? errno : 0, EIO);
    close(directory);
    EXPECT_EQ(fault.hits(), 4U);
  }
  {
    syscost::Fault fault("%file,%desc", EACCES, syscost::each().below(folder));
    EXPECT_EQ(write_error(other), EACCES);
    EXPECT_EQ(opens(folder + "/new"), -EACCES);
    EXPECT_EQ(rename("/none", (folder + "/b").c_str()) < 0 ? errno : 0, EACCES);
    EXPECT_EQ(write_error(null_), 0);
    EXPECT_EQ(write_error(ends[1]), 0);
  }
  {
    syscost::Fault fault("write", EPIPE, syscost::each().on(syscost::FileType::pipe));
    EXPECT_EQ(write_error(ends[1]), EPIPE);
    EXPECT_EQ(write_error(one), 0);
    EXPECT_EQ(write_error(null_), 0);
  }
  for (const int descriptor : {one, other, ends[0], ends[1]}) close(descriptor);
  unlink(file.c_str());
  unlink((folder + "/ab").c_str());
  rmdir(folder.c_str());
}

TEST_F(Faults, OutlivesNothing) {
  { syscost::Fault fault("write", EIO); }
  EXPECT_EQ(write_error(null_), 0);
}

TEST_F(Faults, NothingIsForbiddenHere) {
  EXPECT_NO_SYSCALLS("%network,write", getppid());
  syscost::Forbid forbid("%network");
  EXPECT_EQ(write_error(null_), 0);
  EXPECT_EQ(forbid.hits(), 0U);
}

TEST_F(Faults, TheCallsOfAForbidCanBeRead) {
  syscost::Forbid forbid("lseek");
  EXPECT_EQ(lseek(null_, 5, SEEK_SET), 0);
  forbid.deny(EPERM);
  EXPECT_EQ(lseek(null_, 6, SEEK_SET), -1);
  EXPECT_EQ(errno, EPERM);
  ASSERT_EQ(forbid.calls().size(), 1U);
  EXPECT_EQ(forbid.calls()[0].call,
            "lseek(" + std::to_string(null_) + ", 6, SEEK_SET) = -1 EPERM (Operation not permitted) (injected)");
  EXPECT_NE(forbid.take_report(), "");
}

TEST_F(Faults, AForbiddenCallHasItsPathAndItsCallers) {
  syscost::Forbid forbid("openat");
  EXPECT_TRUE(opens("/dev/null"));
  const std::vector<syscost::ForbiddenCall> calls = forbid.calls();
  EXPECT_NE(forbid.take_report(), "");
  ASSERT_EQ(calls.size(), 1U);
  // On seccomp, which sees an address and no stack.
  if (calls[0].line.empty() && calls[0].call.find("0x") != std::string::npos) return;
  EXPECT_EQ(calls[0].call, "openat(AT_FDCWD, \"/dev/null\", O_RDONLY|O_CLOEXEC)");
  ASSERT_EQ(calls[0].stack.size(), 2U) << testing::PrintToString(calls[0].stack);
  EXPECT_EQ("at " + calls[0].stack[0], calls[0].line);
  EXPECT_NE(calls[0].stack[0].find("opens"), std::string::npos) << calls[0].stack[0];
  EXPECT_NE(calls[0].stack[1].find("TestBody"), std::string::npos) << calls[0].stack[1];
}

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

class Forbidden : public Faults {};

TEST_F(Forbidden, ByAScope) {
  syscost::Forbid forbid("lseek");
  lseek(null_, 5, SEEK_SET);
  lseek(null_, 6, SEEK_SET);
}

TEST_F(Forbidden, ByAnAssertion) {
  EXPECT_NO_SYSCALLS("%file,lseek", lseek(null_, 7, SEEK_CUR));
}

TEST_F(Forbidden, InALoop) {
  syscost::Forbid forbid("openat");
  for (int i = 0; i < 3; ++i) opens("/dev/null");
}

TEST_F(Forbidden, InAnotherThread) {
  syscost::Forbid forbid("lseek", syscost::Reach::process);
  std::thread([&] { lseek(null_, 8, SEEK_CUR); }).join();
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

class Refused : public Faults {};

TEST_F(Refused, Exit) {
  syscost::Fault fault("exit_group", EIO);
}
TEST_F(Refused, UnknownName) {
  syscost::Fault fault("wriet", EIO);
}
TEST_F(Refused, Errno) {
  syscost::Fault fault("write", 0);
}
TEST_F(Refused, ErrnoWithSign) {
  syscost::Fault fault("write", -ENOSPC);
}
TEST_F(Refused, ResultThatIsNoErrno) {
  syscost::Fault fault("write", syscost::Effect{.result = -5000});
}
TEST_F(Refused, ShortenNothing) {
  syscost::Fault fault("sendmsg,getppid", syscost::shorten(1));
}
TEST_F(Refused, AfterNoBytes) {
  syscost::Fault fault("getppid,fsync", EIO, syscost::after(10));
}
TEST_F(Refused, Zeroth) {
  syscost::Fault fault("write", EIO, syscost::nth(0));
}
TEST_F(Refused, ShortToNothing) {
  syscost::Effect effect;
  effect.most_bytes = 0;
  syscost::Fault fault("write", effect);
}
TEST_F(Refused, NegativeDelay) {
  syscost::Effect effect;
  effect.delay_enter = std::chrono::nanoseconds(-1);
  syscost::Fault fault("write", effect);
}
TEST_F(Refused, NoFile) {
  syscost::Fault fault("getppid", EIO, syscost::each().on_descriptor(3));
}
TEST_F(Refused, Root) {
  syscost::Fault fault("write", EIO, syscost::each().below("/"));
}

}  // namespace
