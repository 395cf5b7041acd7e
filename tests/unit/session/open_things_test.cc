// SPDX-License-Identifier: MIT
#include "extras/leaks/session/open_things.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

namespace syscost::session {
namespace {

OpenThings now() {
  Result<OpenThings> things = OpenThings::now();
  EXPECT_TRUE(things.ok());
  return things.ok() ? things.value() : OpenThings();
}

TEST(OpenThings, LeavesNothingWhenNothingHappens) {
  const OpenThings before = now();
  const LeftOpen left(before, now());
  EXPECT_TRUE(left.is_nothing()) << left.text();
  EXPECT_EQ(left.text(), "");
  EXPECT_EQ(left.list_text(), "");
}

// A line break in it would begin a line of the output that a CI service takes for a command.
TEST(OpenThings, SpeaksOfANameOnOneLine) {
  const OpenThings before = now();
  const int file = memfd_create("a\n::error::b;c", MFD_CLOEXEC);
  const LeftOpen left(before, now());
  close(file);
  const std::string name = "memfd a\\x0a::error::b?c";
  EXPECT_NE(left.text().find(name), std::string::npos) << left.text();
  EXPECT_NE(left.list_text().find(name), std::string::npos) << left.list_text();
}

// It has descriptors of its own, so those of the process are not what it opens.
TEST(OpenThings, AreThoseOfTheThreadThatAsks) {
  bool is_apart = false;
  std::thread([&] {
    is_apart = unshare(CLONE_FILES) == 0;
    if (!is_apart) return;
    const OpenThings before = now();
    const int file = memfd_create("own", MFD_CLOEXEC);
    const LeftOpen left(before, now());
    EXPECT_EQ(left.text(), "descriptor " + std::to_string(file) + " (memfd own (deleted))");
    close(file);
  }).join();
  if (!is_apart) GTEST_SKIP() << "needs unshare(CLONE_FILES)";
}

/// Lets a worker of the kernel read one byte, and closes the ring. False if the kernel has or allows no io_uring.
bool read_by_a_worker() {
  io_uring_params parameters{};
  const auto ring = static_cast<int>(syscall(SYS_io_uring_setup, 8, &parameters));
  if (ring < 0) return false;
  const std::size_t bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
  const std::size_t entries_bytes = parameters.sq_entries * sizeof(io_uring_sqe);
  auto* const queue =
      static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING));
  auto* const entry = static_cast<io_uring_sqe*>(
      mmap(nullptr, entries_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES));
  char byte = 1;
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  *entry = io_uring_sqe{};
  entry->opcode = IORING_OP_READ;
  entry->flags = IOSQE_ASYNC;
  entry->fd = zero;
  entry->addr = reinterpret_cast<std::uint64_t>(&byte);
  entry->len = 1;
  *reinterpret_cast<unsigned*>(queue + parameters.sq_off.array) = 0;
  std::atomic_ref(*reinterpret_cast<unsigned*>(queue + parameters.sq_off.tail)).store(1);
  const long made = syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
  munmap(queue, bytes);
  munmap(entry, entries_bytes);
  close(zero);
  close(ring);
  return made == 1 && byte == 0;
}

TEST(OpenThings, HasNoWorkersOfTheKernel) {
  const OpenThings before = now();
  if (!read_by_a_worker()) GTEST_SKIP() << "io_uring is denied here";
  const LeftOpen left(before, now());
  EXPECT_EQ(left.text().find("thread"), std::string::npos) << left.text();
}

TEST(OpenThings, NamesTheDescriptorsThatAreLeft) {
  const OpenThings before = now();
  std::string path = ::testing::TempDir() + "open;things.XXXXXX";
  const int file = mkstemp(path.data());
  const int event = eventfd(0, EFD_CLOEXEC);
  const int memory = memfd_create("notes", MFD_CLOEXEC);
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[1]);
  const LeftOpen left(before, now());
  for (const int fd : {file, event, memory, ends[0]}) close(fd);
  unlink(path.c_str());
  ASSERT_EQ(left.descriptors.size(), 4U) << left.text();
  const std::string shown = path.replace(path.rfind(';'), 1, "?");
  EXPECT_EQ(left.list_text(), std::to_string(file) + " file " + shown + ";" + std::to_string(event) + " eventfd;" +
                                  std::to_string(memory) + " memfd notes (deleted);" + std::to_string(ends[0]) +
                                  " socket");
  EXPECT_NE(left.text().find("descriptor " + std::to_string(event) + " (eventfd)"), std::string::npos) << left.text();
}

TEST(OpenThings, CountsThreadsAndNotThoseThatWereJoined) {
  std::atomic<bool> ends{false};
  std::thread([] {}).join();  // with the first one ThreadSanitizer starts a thread of its own
  const OpenThings before = now();
  for (int i = 0; i < 50; ++i) {
    std::thread([] {}).join();
    const LeftOpen left(before, now());
    ASSERT_EQ(left.threads.size(), 0U) << "after " << i << " others";
  }
  std::thread running([&] {
    while (!ends) std::this_thread::yield();
  });
  const LeftOpen left(before, now());
  EXPECT_EQ(left.threads.size(), 1U);
  EXPECT_EQ(left.text(), "1 thread");
  ends = true;
  running.join();
}

TEST(OpenThings, CountsChildrenUntilTheyAreWaitedFor) {
  const OpenThings before = now();
  if (!before.children.has_value()) GTEST_SKIP() << "the kernel has no CONFIG_PROC_CHILDREN";
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(LeftOpen(before, now()).children->size(), 1U);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(LeftOpen(before, now()).children->size(), 0U);
}

TEST(OpenThings, NamesTheLinesThatStartedThreads) {
  OpenThings before;
  OpenThings after;
  before.children.emplace();
  after.children = {7};
  after.threads = {3, 4, 5};
  LeftOpen left(before, after);
  left.threads[0].site = left.threads[2].site = "at src/pool.cc:8 Pool::grow";
  left.children->front().site = "at src/run.cc:2 run;it";
  EXPECT_EQ(
      left.text(),
      "2 threads (started at src/pool.cc:8 Pool::grow), 1 thread, 1 child process (started at src/run.cc:2 run;it)");
  EXPECT_EQ(left.list_text(),
            "thread at src/pool.cc:8 Pool::grow;thread at src/pool.cc:8 Pool::grow;child at src/run.cc:2 run?it");
}

TEST(OpenThings, KnowsByHowMuchMappingsGrew) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const OpenThings before = now();
  void* const mapping = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  const LeftOpen left(before, now());
  munmap(mapping, kBytes);
  EXPECT_GE(left.mapped_bytes, kBytes);
  EXPECT_TRUE(left.is_nothing()) << "mappings alone are no leak";
}

TEST(OpenThings, KnowsThePeakOfMappingsIfItIsTheProcesss) {
  OpenThings before;
  before.mapped_at_end = {{.bytes = 1000, .most_bytes = 5000}};
  OpenThings after;
  after.mapped_at_begin = {{.bytes = 1500, .most_bytes = 7000}};
  const LeftOpen raised(before, after);
  EXPECT_EQ(raised.mapped_bytes, 500U);
  EXPECT_EQ(raised.peak_mapped_bytes, 6000U);
  after.mapped_at_begin->most_bytes = 5000;
  EXPECT_EQ(LeftOpen(before, after).peak_mapped_bytes, std::nullopt) << "it was as high before";
  after.mapped_at_begin = std::nullopt;
  EXPECT_EQ(LeftOpen(before, after).mapped_bytes, std::nullopt);
}

TEST(OpenThings, ReadsThePeakOfMappings) {
  constexpr std::size_t kBytes = std::size_t{1} << 40;
  const OpenThings before = now();
  void* const mapping = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    GTEST_SKIP() << "no room for a mapping of 1 TiB: the shadow of ThreadSanitizer, or a limit";
  munmap(mapping, kBytes);
  const LeftOpen left(before, now());
  EXPECT_GE(left.peak_mapped_bytes, kBytes);
  EXPECT_LT(left.mapped_bytes, kBytes);
}

}  // namespace
}  // namespace syscost::session
