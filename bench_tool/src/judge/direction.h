// SPDX-License-Identifier: MIT
//
// Direction: whether a developer wants a gate to stop a change of a test's calls.
//
// The caller says which counts changed. Whether chance changed them is another question (decide_doubts()). Syscalls
// that do the same work are a family: if one takes the place of another, that is no regression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::judge {

/// A family: syscalls that do the same work in different ways: 20 write became 1 writev. docs/statistics.md has the
/// table.
enum class Family : std::uint8_t {
  none,  ///< No other syscall can take its place, so it is judged alone.
  data_out,
  data_in,
  data_both,  ///< From file to file: it pays for data in and data out.
  look_ups,
  opens,
  closes,
  syncs,
  memory,
  sizes,   ///< File sizes.
  starts,  ///< Processes and threads.
  waits,
  descriptors,  ///< Sockets, pipes and wake-ups are made and set; locks.
  hints,        ///< Options and advice. They cost little, and are set on purpose: more of them are no red.
  unjudged,     ///< How often it is made depends on which thread comes first: futex.
};

/// `syscall`: a name, with or without its detail: `ioctl TCGETS`.
Family family_of(std::string_view syscall);
/// It waits: a poll, a sleep. Not a futex, which waits for another thread of the test.
bool is_wait(std::string_view syscall);
/// The name in messages: "data out".
std::string_view name_of(Family family);
/// The family with this name; none for one that is not judged.
std::optional<Family> family_named(std::string_view name);
/// The names that family_named() knows.
std::vector<std::string_view> family_names();
/// How many descriptors a successful call makes, the same way: 2 for pipe2. 0 also for those that may make some:
/// recvmsg.
int descriptors_made_by(std::string_view syscall);

/// One syscall of a test on both sides, also if nothing changed. Failures that only say "too early" are left out
/// (is_too_early()).
struct CallCount {
  std::string_view syscall;  ///< With its detail, if there is one: `ioctl TCGETS`.
  double before = 0;
  double after = 0;
  double failed_before = 0;  ///< Failed ones of these.
  double failed_after = 0;
  double interrupted = 0;  ///< Calls before that a signal ended (EINTR). Who makes one again makes one more.
  /// More than before that this kernel does not have, or a container denies (ENOSYS): the C library then makes an older
  /// call in its place, as clone for clone3.
  double absent = 0;
  bool is_accepted = false;  ///< The change is intended: growth is none, nor are other syncs or fewer closes.
};

/// Failures of a syscall with an errno that is neither too early nor ENOSYS, on both sides.
struct FailureCount {
  std::string_view syscall;
  std::string_view errno_name;
  double before = 0;
  double after = 0;
};

enum class Word { same, improved, exchanged, red };

/// The first reason of a red.
enum class Grew { nothing, syncs, calls, failures };

struct Direction {
  Word word = Word::same;
  Grew grew = Grew::nothing;
  /// For `red`: what grew, or which syncs went: "+14 look-ups", "fewer syncs: 4 -> 0". For others: empty.
  std::vector<std::string> reasons;
  /// What stays, as far as calls tell, and a text that is worth a look, but no reason for a red.
  struct Left {
    double more = 0;
    std::string note;  ///< "8 more stay open: close 16 -> 8"; empty if no more stays.
  };
  Left open;              ///< Descriptors more than before that were made and not closed, if fewer were closed.
  Left mapped;            ///< The same of mappings.
  std::string ring_note;  ///< The same of what io_uring may have done.
};

/// `failures`: if a family fails more often with an errno, that is red, too.
Direction direction_of(const std::vector<CallCount>& calls, const std::vector<FailureCount>& failures = {});

}  // namespace syscost::bench::judge
