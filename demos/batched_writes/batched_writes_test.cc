// SPDX-License-Identifier: MIT
//
// One kibibyte, written byte by byte and in one piece.
//
// The same payload reaches the same place; what differs is how often the kernel is asked. Where the bytes go changes
// what a call costs (nothing for /dev/null, page cache for a file, a buffer and a reader for a pipe) but not how many
// there are. README.md walks through it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

#include "syscost/loop.h"
#include "writes.h"

namespace {

constexpr std::size_t kPayloadBytes = 1024;

using Payload = std::array<char, kPayloadBytes>;

using batched_writes::write_byte_by_byte;
using batched_writes::write_in_one_piece;

/// Opens and closes outside the tests' windows: once for the suite.
class BatchedWrites : public testing::Test {
 protected:
  static void SetUpTestSuite() { fd_ = open("/dev/null", O_WRONLY | O_CLOEXEC); }
  static void TearDownTestSuite() { close(fd_); }

  static inline int fd_ = -1;
  static inline const Payload kPayload{};
};

TEST_F(BatchedWrites, ManySmallWrites) {
  for (auto it : syscost::loop("write")) ASSERT_TRUE(write_byte_by_byte(fd_, kPayload));
}

TEST_F(BatchedWrites, SingleBatchedWrite) {
  for (auto it : syscost::loop("write")) ASSERT_TRUE(write_in_one_piece(fd_, kPayload));
}

/// A file in the page cache. It is unlinked at once, so no file remains after the test.
class BatchedWritesToFile : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Not mkostemp: now and then it asks the kernel for another random number, and the suite's counts would vary.
    const std::string name = testing::TempDir() + "batched_writes_" + std::to_string(getpid());
    fd_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    ASSERT_GE(fd_, 0) << name;
    unlink(name.c_str());
  }
  static void TearDownTestSuite() { close(fd_); }

  static inline int fd_ = -1;
  static inline const Payload kPayload{};
};

TEST_F(BatchedWritesToFile, ByteByByte) {
  for (auto it : syscost::loop("write")) ASSERT_TRUE(write_byte_by_byte(fd_, kPayload));
}

TEST_F(BatchedWritesToFile, InOnePiece) {
  for (auto it : syscost::loop("write")) ASSERT_TRUE(write_in_one_piece(fd_, kPayload));
}

/// A pipe holds 64 KiB, so each cycle reads back what it wrote: one read in either test.
class BatchedWritesToPipe : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
  static void TearDownTestSuite() {
    close(ends_[0]);
    close(ends_[1]);
  }

  static void drain() {
    Payload received;
    ASSERT_EQ(read(ends_[0], received.data(), received.size()), static_cast<ssize_t>(received.size()));
  }

  static inline std::array<int, 2> ends_{-1, -1};
  static inline const Payload kPayload{};
};

TEST_F(BatchedWritesToPipe, ByteByByte) {
  for (auto it : syscost::loop("write")) {
    ASSERT_TRUE(write_byte_by_byte(ends_[1], kPayload));
    drain();
  }
}

TEST_F(BatchedWritesToPipe, InOnePiece) {
  for (auto it : syscost::loop("write")) {
    ASSERT_TRUE(write_in_one_piece(ends_[1], kPayload));
    drain();
  }
}

}  // namespace
