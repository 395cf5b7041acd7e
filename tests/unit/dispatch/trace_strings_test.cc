// SPDX-License-Identifier: MIT
//
// The strings of a trace: kept if the kernel has read them, and copied so that neither memory that is gone nor a
// seccomp filter can end the program for it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "backends/dispatch/stub_calls.h"
#include "traced.h"

namespace syscost::dispatch {
namespace {

using TraceStringsTest = TraceTest;

INSTANTIATE_TEST_SUITE_P(Ways, TraceStringsTest, testing::Values(Patching::allowed, Patching::never), way_name);

TEST_P(TraceStringsTest, KeepsTheFirstBytesOfALongPath) {
  open();
  const std::string existing = std::string(200, '/') + "dev/null";
  const std::vector<CallEvent> whole = events_of([&] { static_cast<void>(access(existing.c_str(), R_OK)); });
  ASSERT_EQ(whole.at(0).texts.size(), 1U);
  EXPECT_EQ(whole[0].texts[0].text, existing);
  EXPECT_FALSE(whole[0].texts[0].is_cut);
  const std::string longer = std::string(600, '/') + "dev/null";
  const std::vector<CallEvent> cut = events_of([&] { static_cast<void>(access(longer.c_str(), R_OK)); });
  ASSERT_EQ(cut.at(0).texts.size(), 1U);
  EXPECT_EQ(cut[0].texts[0].text, std::string(288, '/'));
  EXPECT_TRUE(cut[0].texts[0].is_cut);
}

TEST_P(TraceStringsTest, KeepsBothPathsOfARename) {
  open();
  const std::vector<CallEvent> events = events_of([] { rename("/nonexistent/from", "/nonexistent/to"); });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].result, -ENOENT);
  ASSERT_EQ(events[0].texts.size(), 2U);
  EXPECT_EQ(events[0].texts[0].text, "/nonexistent/from");
  EXPECT_EQ(events[0].texts[1].text, "/nonexistent/to");
}

TEST_P(TraceStringsTest, KeepsThePathOfACallThatFailsAfterItHasBeenRead) {
  if (has_seccomp_filter()) GTEST_SKIP() << "a seccomp filter may give any error: no text is kept";
  open();
  const std::string long_name = "/" + std::string(280, 'x');
  const std::string long_path = std::string(5000, '/');
  const std::vector<CallEvent> events = events_of([&] {
    syscall(SYS_access, long_name.c_str(), R_OK);
    syscall(SYS_access, long_path.c_str(), R_OK);
    syscall(SYS_execve, "/dev/null", nullptr, nullptr);
    syscall(SYS_chmod, "/proc/self/status", 0);
    syscall(SYS_openat, AT_FDCWD, "/proc/self", O_RDONLY | O_NOFOLLOW);
    syscall(SYS_openat, AT_FDCWD, "/dev/null/none", O_RDONLY);
    syscall(SYS_openat, -5, "no/absolute/path", O_RDONLY);
  });
  struct Expected {
    long error;
    std::string text;
  };
  const std::vector<Expected> expected = {{ENAMETOOLONG, long_name},  {ENAMETOOLONG, std::string(288, '/')},
                                          {EACCES, "/dev/null"},      {EPERM, "/proc/self/status"},
                                          {ELOOP, "/proc/self"},      {ENOTDIR, "/dev/null/none"},
                                          {EBADF, "no/absolute/path"}};
  ASSERT_EQ(events.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(events[i].result, -expected[i].error) << i;
    ASSERT_EQ(events[i].texts.size(), 1U) << i;
    EXPECT_EQ(events[i].texts[0].text, expected[i].text) << i;
  }
}

TEST_P(TraceStringsTest, KeepsNoPathThatTheKernelMayNotHaveRead) {
  open();
  const std::vector<CallEvent> events = events_of([] {
    syscall(SYS_openat, AT_FDCWD, "/dev/null", O_TMPFILE | O_RDONLY);  // its flags contradict each other
    syscall(SYS_inotify_add_watch, -1, "/dev/null", 1);
    syscall(SYS_memfd_create, "name", ~0U);
  });
  ASSERT_EQ(events.size(), 3U);
  for (const CallEvent& event : events) {
    EXPECT_LT(event.result, 0);
    EXPECT_TRUE(event.texts.empty());
  }
}

TEST_P(TraceStringsTest, NeverReadsWhatTheKernelDidNot) {
  open();
  char* page = page_before_a_hole();
  std::fill(page, page + 4096, '/');
  const std::vector<CallEvent> events = events_of([&] {
    syscall(SYS_openat, AT_FDCWD, 1, O_RDONLY);
    syscall(SYS_openat, AT_FDCWD, page + 4000, O_RDONLY);
    syscall(SYS_openat, AT_FDCWD, page + 4096, O_RDONLY);
    syscall(SYS_utimensat, -1, nullptr, nullptr, 0);
    syscall(SYS_openat, AT_FDCWD, page + 4096, -1);
    // The first path is not there, so the kernel may not have looked at the second.
    syscall(SYS_rename, "", page + 4096);
    syscall(SYS_getxattr, "/nonexistent", page + 4096, nullptr, 0);
  });
  munmap(page, 8192);
  ASSERT_EQ(events.size(), 7U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(events[i].texts.empty()) << i;
}

TEST_P(TraceStringsTest, ReadsAStringUpToTheEndOfItsPage) {
  open();
  char* page = page_before_a_hole();
  const std::string path = "/dev/null";
  char* at = page + 4096 - path.size() - 1;
  std::copy(path.c_str(), path.c_str() + path.size() + 1, at);
  const std::vector<CallEvent> events = events_of([&] { static_cast<void>(access(at, R_OK)); });
  munmap(page, 8192);
  ASSERT_EQ(events.at(0).texts.size(), 1U);
  EXPECT_EQ(events[0].texts[0].text, path);
}

// ---- memory that is gone --------------------------------------------------------------------------------------------

constexpr std::uint64_t kMuchRoom = 100'000;

/// A FIFO: opening it to write returns only when somebody opens it to read.
class Fifo {
 public:
  Fifo() {
    if (mkdtemp(folder_) == nullptr || mkfifo(path().c_str(), 0600) != 0) abort();
  }
  ~Fifo() {
    unlink(path().c_str());
    rmdir(folder_);
  }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  std::string path() const { return std::string(folder_) + "/fifo"; }

 private:
  char folder_[32] = "/tmp/syscost_trace_XXXXXX";
};

/// Waits until `thread` waits in syscall `number`: then the kernel has its path.
void wait_until_in(pid_t thread, long number) {
  const std::string file = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  for (;;) {
    long current = -1;
    std::ifstream(file) >> current;
    if (current == number) return;
    usleep(100);  // so that few of these calls fill the trace
  }
}

/// Opens a FIFO by the path at `where`, and calls `remove` after the kernel has read the path and before the call
/// returns.
template <class Remove>
void open_and_remove(char* where, Remove remove) {
  const Fifo fifo;
  std::copy_n(fifo.path().c_str(), fifo.path().size() + 1, where);
  std::atomic<pid_t> writer{0};
  std::thread opening([&] {
    writer = gettid();
    close(static_cast<int>(syscall(SYS_open, where, O_WRONLY)));
  });
  while (writer == 0) std::this_thread::yield();
  wait_until_in(writer, SYS_open);
  remove();
  const int reader = open(fifo.path().c_str(), O_RDONLY | O_NONBLOCK);
  opening.join();
  close(reader);
}

TEST_P(TraceStringsTest, AStringThatIsUnmappedBeforeItIsCopiedIsAnAddress) {
  open(kMuchRoom);
  auto* page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::vector<CallEvent> events = events_of([&] { open_and_remove(page, [&] { munmap(page, 4096); }); });
  const CallEvent* opening = find(events, SYS_open);
  ASSERT_NE(opening, nullptr);
  EXPECT_GE(opening->result, 0);
  EXPECT_TRUE(opening->texts.empty());
}

TEST_P(TraceStringsTest, AStringInAFileThatIsCutIsAnAddress) {
  open(kMuchRoom);
  const int file = memfd_create("path", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  auto* page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  const std::vector<CallEvent> events =
      events_of([&] { open_and_remove(page, [&] { EXPECT_EQ(ftruncate(file, 0), 0); }); });
  munmap(page, 4096);
  close(file);
  const CallEvent* opening = find(events, SYS_open);
  ASSERT_NE(opening, nullptr);
  EXPECT_GE(opening->result, 0);
  EXPECT_TRUE(opening->texts.empty());
}

TEST_P(TraceStringsTest, SurvivesAThreadThatMapsAndUnmapsThePath) {
  open(kMuchRoom);
  auto* page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  constexpr int kCalls = 2000;
  const std::vector<CallEvent> events = events_of([&] {
    std::atomic<bool> ends{false};
    std::thread mapping([&] {
      while (!ends) {
        static_cast<void>(mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
        std::copy_n("/dev/null", sizeof "/dev/null", page);
        std::this_thread::yield();
        mprotect(page, 4096, PROT_NONE);
      }
    });
    for (int i = 0; i < kCalls; ++i) syscall(SYS_access, page, R_OK);
    ends = true;
    mapping.join();
  });
  munmap(page, 4096);
  for (const CallEvent& event : events) {
    if (event.id.number != SYS_access || event.texts.empty()) continue;
    // The page may be new, and empty.
    EXPECT_TRUE(event.texts[0].text == "/dev/null" || event.texts[0].text.empty()) << event.texts[0].text;
  }
}

}  // namespace
}  // namespace syscost::dispatch
