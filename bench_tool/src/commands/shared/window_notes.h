// SPDX-License-Identifier: MIT
//
// Notes on a window, besides its counts: calls that faults answered, things that it left open, and the kinds of files
// that its bytes came from or went to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/verdict.h"
#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Why the counts of `window` are lower bounds, or not known: `warning: events lost: 3; every count here is a lower
/// bound`.
std::vector<std::string> loss_warnings(const stats::WindowSummary& window);

/// `events or rows are missing in 2 tests: counts are lower bounds`.
std::string lossy_tests_text(std::size_t tests);

/// `3 calls were answered or changed by faults`.
std::string injected_line(std::uint64_t calls);

/// Adds up the calls that faults answered or changed (column `injected`), over the windows of a run.
class InjectedCalls {
 public:
  void add(const stats::WindowSummary& window);
  /// `3 calls were answered or changed by faults, in 2 tests: A.x, B.y`; "" if there are none.
  std::string text() const;

 private:
  std::uint64_t calls_ = 0;
  std::vector<std::string> names_;
};

/// The values of --syscost_inject in the run; "" if it was not given.
std::string inject_rules(const model::Dataset& data);

/// The name of these rules in a baseline.
inline constexpr const char* kInjectSurrounding = "inject";

/// One of two runs, or a baseline.
struct InjectedSide {
  std::string name;   ///< `NEW`
  std::string rules;  ///< From inject_rules().
};

/// Warnings about rows that are not compared because of faults (judge/comparability.h).
std::vector<std::string> injected_warnings(const std::vector<judge::Comparison>& rows, const InjectedSide& before,
                                           const InjectedSide& after);

/// How to find out which things a process makes once and keeps.
constexpr std::string_view kHowToTell =
    "with GTEST_REPEAT=2, GoogleTest runs each test twice in a process, which tells it apart";

/// The things that a window left open (--syscost_leaks): `2 descriptors, 1 thread`; "" if there are none. See
/// stats::LeftByTurn.
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

/// The bytes that the calls of one row moved.
struct MovedBytes {
  std::string_view name;  ///< `read pipe`, `sendfile file to socket`
  double bytes = 0;
};

/// The bytes of a window by the kind of file they came from or went to (--syscost_detail file): `read 4240 bytes (4.14
/// KiB): 4096 bytes (4.00 KiB) file, 144 bytes socket; written 8 bytes: 8 bytes pipe`. Bytes that were read from no
/// file, or from one of unknown kind, are among them. "" where no row has a kind.
std::string bytes_by_kind(std::span<const MovedBytes> rows);

}  // namespace syscost::bench::commands
