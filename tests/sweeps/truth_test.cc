// SPDX-License-Identifier: MIT
//
// Tests of code with known faults: check_sweep.py holds what `bench faults` must say of each.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

int created() {
  return open("saved.txt", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
}

// Each error is seen.
TEST(Truth, Reports) {
  const int file = created();
  ASSERT_GE(file, 0);
  const bool is_written = write(file, "text", 4) == 4;
  const bool is_synced = fsync(file) == 0;
  const bool is_closed = close(file) == 0;
  EXPECT_TRUE(is_written && is_synced && is_closed);
}

// No error is seen.
TEST(Truth, Ignores) {
  const int file = created();
  ASSERT_GE(file, 0);
  [[maybe_unused]] const ssize_t written = write(file, "text", 4);
  fsync(file);
  close(file);
}

// As a test program with a list of errors of its own: the test passes, and the program fails.
TEST(Truth, NoticesAtTheEnd) {
  static bool has_failed = false;
  std::atexit([] {
    if (has_failed) _exit(29);
  });
  const int file = created();
  has_failed = file < 0 || write(file, "text", 4) != 4 || close(file) != 0;
}

// The rest that a short write leaves is not written.
TEST(Truth, WritesOnce) {
  const int file = created();
  ASSERT_GE(write(file, "text", 4), 0);
  EXPECT_EQ(close(file), 0);
}

// Writes until all is written, and waits for room without end.
TEST(Truth, WritesAll) {
  const int file = created();
  ASSERT_GE(file, 0);
  const std::string text = "text";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0) usleep(1000);
  }
  EXPECT_EQ(close(file), 0);
}

// A close() of a pipe's end cannot fail. If it did, and left the end open, the last read would wait for ever.
TEST(Truth, UsesAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "text", 4), 4);
  close(ends[1]);
  std::string text;
  char letter = 0;
  while (read(ends[0], &letter, 1) == 1) text += letter;
  EXPECT_EQ(text, "text");
  close(ends[0]);
}

// A failed write is tried again.
TEST(Truth, Survives) {
  const int file = created();
  ASSERT_GE(file, 0);
  ssize_t written = write(file, "text", 4);
  if (written < 0) written = write(file, "text", 4);
  EXPECT_EQ(written, 4);
  EXPECT_EQ(close(file), 0);
}

// The early return forgets the descriptor.
bool save_and_leak() {
  const int file = created();
  if (write(file, "text", 4) < 0) return false;
  return close(file) == 0;
}
TEST(Truth, Leaks) {
  save_and_leak();
}

TEST(Truth, Crashes) {
  const char* text = "text";
  const int file = created();
  if (file < 0) text = nullptr;
  volatile const char* const first = text;
  EXPECT_EQ(*first, 't');
  close(file);
}

TEST(Truth, Aborts) {
  const int file = created();
  if (file < 0) std::abort();
  close(file);
}

// Waits for a file that it could not open; a child in a session of its own waits, too.
TEST(Truth, Hangs) {
  const int file = created();
  if (file < 0) {
    if (fork() == 0) {
      setsid();
      for (;;) pause();
    }
    for (;;) pause();
  }
  close(file);
}

TEST(Truth, Exits) {
  const int file = created();
  if (file < 0) std::exit(3);
  close(file);
}

TEST(Truth, ExitsWithZero) {
  const int file = created();
  if (file < 0) std::exit(0);
  close(file);
}

// Codes that others use, too: of `bench run` for a refusal, of a shell for a signal.
TEST(Truth, ExitsWithTwo) {
  const int file = created();
  if (file < 0) std::exit(2);
  close(file);
}

TEST(Truth, ExitsAtOnce) {
  const int file = created();
  if (file < 0) _exit(0);
  close(file);
}

TEST(Truth, EndsWith137) {
  static bool has_failed = false;
  std::atexit([] {
    if (has_failed) _exit(137);
  });
  const int file = created();
  has_failed = file < 0;
  close(file);
}

// As syscost, bench and a sanitizer print it.
TEST(Truth, PrintsWhatOthersPrint) {
  const int file = created();
  if (file < 0) {
    const std::string text = "bench: no\nsyscost: no\n==7==ERROR: LeakSanitizer: detected memory leaks\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    std::exit(2);
  }
  close(file);
}

TEST(Truth, IsKilled) {
  const int file = created();
  if (file < 0) kill(getpid(), SIGKILL);
  close(file);
}

// Its child crashes, and the status is dropped.
TEST(Truth, ChildCrashes) {
  const int file = created();
  if (file >= 0) {
    close(file);
    return;
  }
  if (fork() == 0) std::raise(SIGSEGV);
  wait(nullptr);
}

// As a death test: it crashes with and without the failure.
TEST(Truth, ChildCrashesAlways) {
  close(created());
  if (fork() == 0) std::abort();
  siginfo_t end{};
  EXPECT_EQ(waitid(P_ALL, 0, &end, WEXITED), 0);
}

TEST(Truth, Skips) {
  const int file = created();
  if (file < 0) GTEST_SKIP() << "no file";
  close(file);
}

// Fails by itself: it is not swept.
TEST(Truth, Fails) {
  FAIL() << "always";
}

// Lines to GoogleTest's output are no data of the test.
TEST(Truth, Prints) {
  ASSERT_EQ(write(STDOUT_FILENO, "printed\n", 8), 8);
}

// Writes into folders that are there before: what an ended run leaves there would fail the next one.
TEST(Folder, IsMadeAndRemoved) {
  ASSERT_EQ(mkdir("data/x", 0700), 0);
  const int file = open("data/log", O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(write(file, "x", 1), 1);
  close(file);
  ASSERT_EQ(rmdir("data/x"), 0);
}

// By its whole name, from which nothing protects the folder: what a failure leaves behind there.
TEST(Folder, GetsAFileByItsWholeName) {
  const std::string name = std::string(std::getenv("SWEEPS_FOLDER")) + "/data/new";
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  const bool is_written = write(file, "x", 1) == 1;
  close(file);
  ASSERT_TRUE(is_written);
  unlink(name.c_str());
}

// By its whole name, with a failure and without one, as the files of a coverage build are.
TEST(Folder, IsNamedWhole) {
  const std::string folder = std::getenv("SWEEPS_FOLDER");
  const int file = open((folder + "/data/log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(write(file, "x", 1), 1);
  close(file);
  const int own = open((folder + "/data/of-" + std::to_string(getpid())).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(own, 0);
  close(own);
}

// A death test looks for the report of a sanitizer in its output: a child that the sanitizer ends, in short.
TEST(Sanitizer, ReportIsInTheOutput) {
  const char* const options = getenv("LSAN_OPTIONS");
  const char* const path = options != nullptr ? std::strstr(options, "log_path=") : nullptr;
  if (path != nullptr) {
    std::ofstream(path + std::strlen("log_path=") + std::string(".1")) << "heap-use-after-free";
  }
  ASSERT_EQ(path, nullptr);
  const int file = created();
  EXPECT_GE(file, 0);
  close(file);
}

// Signs that GoogleTest's filter takes for its own.
class Named : public testing::Test {
  void TestBody() override {
    const int file = created();
    EXPECT_GE(file, 0);
    close(file);
  }
};
const auto* const kDashed =
    testing::RegisterTest("Named", "a-b:c", nullptr, nullptr, __FILE__, __LINE__, []() -> Named* { return new Named; });
const auto* const kTwin = testing::RegisterTest("Named", "twin-1", nullptr, nullptr, __FILE__, __LINE__,
                                                []() -> Named* { return new Named; });
const auto* const kOtherTwin = testing::RegisterTest("Named", "twin_1", nullptr, nullptr, __FILE__, __LINE__,
                                                     []() -> Named* { return new Named; });

// The code that sets a test up fails, too.
class Fixture : public testing::Test {
 protected:
  void SetUp() override {
    const int file = created();
    ASSERT_GE(file, 0);
    close(file);
  }
};
TEST_F(Fixture, HasABody) {
  EXPECT_EQ(access("saved.txt", R_OK), 0);
}

// Calls that no failure is for.
TEST(Truth, MakesNoCalls) {}

}  // namespace
