// SPDX-License-Identifier: MIT
//
// Direction: whether a change of a test's calls is one that a person wants to be stopped by. Which counts changed is
// known here; how far they can be trusted is another question (stats/doubts.cc).
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

struct Direction {
  Word word = Word::same;
  /// Of `red`: what grew, or which syncs went: "+14 look-ups", "fewer syncs: 4 -> 0". Of others: empty.
  std::vector<std::string> reasons;
  double stay_open = 0;  ///< Descriptors more than before that were made and not closed, if fewer were closed.
  /// Worth a person's eye, and no reason for a red: "8 descriptors more stay open: close 16 -> 8".
  std::vector<std::string> notes;
};

/// `failures`: more with an errno in a family is red, too.
Direction direction_of(const std::vector<CallCount>& calls, const std::vector<FailureCount>& failures = {});

}  // namespace syscost::bench::judge
