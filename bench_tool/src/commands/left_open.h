// SPDX-License-Identifier: MIT
//
// What a window left open, in words (--syscost_leaks).
#pragma once

#include <string>
#include <string_view>

#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// How to find out which things a process makes once and keeps.
constexpr std::string_view kHowToTell =
    "with GTEST_REPEAT=2, GoogleTest runs each test twice in a process, which tells it apart";

/// `2 descriptors, 1 thread`; "" if there are none. See stats::LeftByTurn.
struct LeftInTurns {
  std::string again;
  std::string once;
  std::string unknown;
};

LeftInTurns left_in_turns(const stats::WindowSummary& window);

/// `2 descriptors (5 file /tmp/copy, 7 pipe), 0 threads, 0 children, mappings grew by 8192 bytes`, and which are
/// left again; "" if that was not measured.
std::string left_details(const stats::WindowSummary& window);

/// `left open: 1 descriptor (5 file /tmp/x), in each of 2 repetitions`; "" if nothing was left.
std::string left_remark(const stats::WindowSummary& window);

}  // namespace syscost::bench::commands
