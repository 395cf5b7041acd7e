// SPDX-License-Identifier: MIT
//
// Rows that were written are in the file, or the sink says that they are not. This program defines write(), and the
// parts are linked into it, without the room that leads libsyscost's calls to libc.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csv/row.h"
#include "csv/sink.h"
#include "temporary_folder.h"

namespace {

bool g_swallows = false;

}  // namespace

extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  if (g_swallows) return static_cast<ssize_t>(size);
  return syscall(SYS_write, fd, bytes, size);
}

namespace syscost::csv {
namespace {

TEST(WrittenRows, AreMissedIfSomethingElseAnswersWrite) {
  const testing::TemporaryFolder folder;
  Result<Sink> sink = Sink::open(folder.file("out.csv"));
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE(sink.value().append("a\n").ok());
  g_swallows = true;
  const Result<void> swallowed = sink.value().append("b\n");
  g_swallows = false;
  ASSERT_FALSE(swallowed.ok());
  EXPECT_NE(swallowed.failure().reason.find("answers write() in place of the kernel"), std::string::npos)
      << swallowed.failure().reason;
  // Text that is written later follows the text that is there.
  ASSERT_TRUE(sink.value().append("c\n").ok());
  EXPECT_EQ(testing::read_file(folder.file("out.csv")), header_line() + "a\nc\n");
}

TEST(WrittenRows, MissAHeaderThatWasSwallowed) {
  const testing::TemporaryFolder folder;
  g_swallows = true;
  const Result<Sink> sink = Sink::open(folder.file("out.csv"));
  g_swallows = false;
  EXPECT_FALSE(sink.ok());
}

}  // namespace
}  // namespace syscost::csv
