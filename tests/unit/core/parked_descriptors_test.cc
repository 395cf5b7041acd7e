// SPDX-License-Identifier: MIT
#include "os/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

namespace syscost {
namespace {

int next_descriptor() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

class ParkedDescriptorsTest : public ::testing::Test {
 protected:
  /// The ends of pipes: which of them are open their other ends tell.
  static std::vector<int> readers_of(std::vector<int>& writers, int count) {
    std::vector<int> readers;
    for (int i = 0; i < count; ++i) {
      std::array<int, 2> ends{};
      EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
      readers.push_back(ends[0]);
      writers.push_back(ends[1]);
    }
    return readers;
  }
};

TEST_F(ParkedDescriptorsTest, CopiesAreAllOrNone) {
  std::vector<int> writers;
  Result<ParkedDescriptors> parked = ParkedDescriptors::park(readers_of(writers, 3));
  ASSERT_TRUE(parked.ok());
  Result<std::vector<int>> copies = parked.value().copies();
  ASSERT_TRUE(copies.ok()) << copies.failure().reason;
  EXPECT_EQ(copies.value().size(), 3U);
  close_each(copies.value());

  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = next_descriptor();
  for (const int room : {0, 1, 2}) {
    const rlimit few{static_cast<rlim_t>(free + room), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    copies = parked.value().copies();
    const int error = errno;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(copies.ok()) << "with room for " << room << ": " << copies.value().size();
    EXPECT_EQ(error, EMFILE);
    EXPECT_EQ(next_descriptor(), free) << "some are left open";
  }
  close_each(writers);
}

TEST_F(ParkedDescriptorsTest, AllAreClosedAlsoWhereNoNumberIsFree) {
  std::vector<int> writers;
  Result<ParkedDescriptors> parked = ParkedDescriptors::park(readers_of(writers, 3));
  ASSERT_TRUE(parked.ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(next_descriptor()) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  parked.value().close_all();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  signal(SIGPIPE, SIG_IGN);
  for (const int writer : writers) {
    EXPECT_EQ(write(writer, "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }
  close_each(writers);
}

}  // namespace
}  // namespace syscost
