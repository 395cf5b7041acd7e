// SPDX-License-Identifier: MIT
#include "session/two_process/pass_tracer.h"

#include <gtest/gtest.h>

#include <string>

namespace syscost::session {
namespace {

TracedWindow window() {
  TracedWindow traced;
  traced.lines = {"syslat: 5 write, as counted", "", "a colon: 3:x."};
  traced.differences = {"differs"};
  traced.problems = {{"cause", "fix"}, {"another", ""}};
  csv::ToolWindow& rows = traced.rows.emplace_back();
  rows.origin = "bpftrace";
  rows.lost = 7;
  csv::ToolSyscall& write = rows.syscalls.emplace_back();
  write.id = {Abi::x86_64, 1};
  write.entries = 5;
  write.errors = 1;
  write.errnos = "EBADF:1";
  write.latency_count = 5;
  write.latency_min_ns = 0;
  write.histogram = "512:5";
  rows.syscalls.emplace_back().id = {Abi::x86_64, 39};
  traced.times = {{"add duration (CUPTI)", "", {{1, 2000}, {3, 6000}}, false},
                  {"all kernels (CUPTI)", "a note: 1.", {{1, 8000}}, true}};
  return traced;
}

TEST(TracedText, ComesBackAsItWas) {
  const std::optional<TracedWindow> back = traced_from_text(to_text(window()));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->lines, window().lines);
  EXPECT_EQ(back->differences, window().differences);
  ASSERT_EQ(back->problems.size(), 2U);
  EXPECT_EQ(back->problems[0].reason, "cause");
  EXPECT_EQ(back->problems[0].how_to_fix, "fix");
  ASSERT_EQ(back->rows.size(), 1U);
  EXPECT_EQ(back->rows[0].origin, "bpftrace");
  EXPECT_EQ(back->rows[0].lost, 7U);
  ASSERT_EQ(back->rows[0].syscalls.size(), 2U);
  const csv::ToolSyscall& write = back->rows[0].syscalls[0];
  EXPECT_EQ(write.entries, 5U);
  EXPECT_EQ(write.errnos, "EBADF:1");
  EXPECT_EQ(write.latency_sum_ns, std::nullopt) << "what the tool did not say stays unknown";
  EXPECT_EQ(write.latency_min_ns, 0U);
  EXPECT_EQ(write.histogram, "512:5");
  EXPECT_EQ(back->rows[0].syscalls[1].id.number, 39U);
  EXPECT_EQ(back->times, window().times);
}

TEST(TracedText, IsNothingWhenItWasCutOrIsSomethingElse) {
  const std::string whole = to_text(window());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(traced_from_text(whole.substr(0, length)).has_value()) << length;
  }
  for (const char* other : {"x", "l3:ab.", "l-1:a.", "z1:a.", "n1:3.", "s1:1.", "o1:as5:1 2 3.", "l1:a.b", "v3:1 2.",
                            "u0:.", "m1:a.", "k1:av1:1.", "k1:av4:1 2x."}) {
    EXPECT_FALSE(traced_from_text(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace syscost::session
