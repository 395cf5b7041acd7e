// SPDX-License-Identifier: MIT
//
// Calls that fail, and forbidden ones, in tests: what holds.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "faults_case.h"
#include "syscost/loop.h"

namespace adapter_tests {
namespace {

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

/// Removed with all that it holds, also if a fault cannot be made and the test is skipped.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "syscost-faults-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error(strerror(errno));
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_F(Faults, OfAFile) {
  const Folder made;
  const std::string& folder = made.path();
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

}  // namespace
}  // namespace adapter_tests
