// SPDX-License-Identifier: MIT
//
// Behaviour: how often a test makes each syscall.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::groups {

/// One syscall of a test.
struct Count {
  std::uint32_t syscall = 0;  ///< Index into Behaviours::syscalls.
  double calls = 0;           ///< The median of the repetitions; above 0.
};

/// One test.
struct Behaviour {
  std::string window;  ///< As in WindowSummary::name.
  std::string test;    ///< As in the CSV.
  std::string program;
  std::vector<Count> counts;  ///< Sorted by syscall, each once.
  double calls = 0;           ///< Their sum.
};

/// A syscall of the run.
struct Syscall {
  std::string name;  ///< `write`; the calls of all details together.
  /// False if chance or other tests decide how often it is made: waits, calls that vary (class %volatile), and memory,
  /// because a test takes what earlier tests freed.
  bool tells = true;
};

/// A test that cannot be grouped.
struct LeftOut {
  std::string window;
  std::string reason;
};

/// The tests of a run.
class Behaviours {
 public:
  /// Adds a window; of other kinds than `test`, or counted by another tool, nothing.
  void add(const stats::WindowSummary& window);

  std::vector<Behaviour> tests;
  std::vector<Syscall> syscalls;
  std::vector<LeftOut> left_out;

 private:
  std::uint32_t index_of(const stats::SyscallSummary& call);

  std::map<std::string, std::uint32_t, std::less<>> indexes_;
};

}  // namespace syscost::bench::groups
