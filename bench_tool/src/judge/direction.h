// SPDX-License-Identifier: MIT
//
// Direction: whether a developer wants a gate to stop a change of a test's calls. The caller says which counts changed.
// Whether chance changed them is another question (stats/doubts.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::judge {

/// One syscall of a test on both sides, also if nothing changed. Failures that only say "too early" are left out
/// (is_too_early()).
struct CallCount {
  std::string_view syscall;  ///< With its detail, if there is one: `ioctl TCGETS`.
  double before = 0;
  double after = 0;
  double failed_before = 0;  ///< Of these.
  double failed_after = 0;
  double interrupted = 0;    ///< Calls before that a signal ended (EINTR). Who makes one again makes one more.
  bool is_accepted = false;  ///< The change is intended: growth is none, nor are other syncs or fewer closes.
};

/// Failures of a syscall with an errno that is not too early, on both sides.
struct FailureCount {
  std::string_view syscall;
  std::string_view errno_name;
  double before = 0;
  double after = 0;
};

/// True for an errno by which a call says that it is to be made again: how often that happens depends on time.
bool is_too_early(std::string_view syscall, std::string_view errno_name);

enum class Word { same, improved, exchanged, red };

/// The first reason of a red.
enum class Grew { nothing, syncs, calls, failures };

struct Direction {
  Word word = Word::same;
  Grew grew = Grew::nothing;
  /// Of `red`: what grew, or which syncs went: "+14 look-ups", "fewer syncs: 4 -> 0". Of others: empty.
  std::vector<std::string> reasons;
  double stay_open = 0;    ///< Descriptors more than before that were made and not closed, if fewer were closed.
  double stay_mapped = 0;  ///< The same of mappings.
  /// Worth a look, but no reason for a red: "8 more stay open: close 16 -> 8".
  std::vector<std::string> notes;
};

/// `failures`: if a family fails more often with an errno, that is red, too.
Direction direction_of(const std::vector<CallCount>& calls, const std::vector<FailureCount>& failures = {});

}  // namespace syscost::bench::judge
