// SPDX-License-Identifier: MIT
#include "session/process/messages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace syscost::session {
namespace {

TEST(Messages, EndNoProgramIfItsErrorOutputHasNoReader) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  close(pipe_ends[0]);
  const int saved = dup(STDERR_FILENO);
  dup2(pipe_ends[1], STDERR_FILENO);
  close(pipe_ends[1]);
  say("this goes unread");  // SIGPIPE's default would end the test program here
  dup2(saved, STDERR_FILENO);
  close(saved);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

}  // namespace
}  // namespace syscost::session
