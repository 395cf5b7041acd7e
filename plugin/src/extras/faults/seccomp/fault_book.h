// SPDX-License-Identifier: MIT
//
// FaultBook: the rules by which calls fail, in memory that the measured process and its supervisor share.
//
// The process writes rules and opens them; the supervisor asks them for each call, counts, and answers. As in shared.h,
// each word has one writer, and the supervisor looks at one call at a time, between two steps of `Shared::sequence`.
// A rule is complete before its generation is stored. Its place gets another rule only when the supervisor has finished
// the call at which it may have seen the old one.
//
// A rule takes any place that is free. The rules that match a call are asked newest first, by their generation.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/seccomp/listener.h"
#include "core/tables/fault_choice.h"
#include "extras/faults/core/fault_rule.h"

namespace syscost::seccomp {

inline constexpr std::uint32_t kFaultRules = 128;
inline constexpr std::uint32_t kKeptHits = 16;  ///< The first of a rule; later ones are only counted.

/// A call that met a rule, by the supervisor.
struct NotedHit {
  std::uint32_t number;
  std::uint32_t thread;
  std::uint64_t arguments[6];
};

struct BookedRule {
  // By the process.
  std::atomic<std::uint64_t> generation;  ///< 0 = closed; larger = opened later. Stored last when the rule opens.
  std::uint64_t opened;                   ///< The generation, also after the end: the counts belong to it.
  std::uint64_t numbers[FaultRule::kNumbers / 64];
  std::int32_t thread;  ///< The kernel's id; 0 = every thread of the process.
  bool is_watch;        ///< Sees calls that an inner rule has answered.
  bool keeps_hits;
  bool is_per_thread;      ///< Each thread numbers its own matches.
  bool answers;            ///< With `result`, and no call is made.
  bool is_for_descriptor;  ///< Only calls that have `descriptor` as an argument.
  std::int32_t descriptor;
  std::int64_t result;
  FaultChoice choice;
  std::uint64_t delay_ns;

  // By the supervisor; the process clears them while the rule is closed.
  std::atomic<std::uint64_t> matches;
  std::atomic<std::uint64_t> hits;
  std::atomic<std::uint64_t> unnumbered;  ///< Matches that were let through: no place was free to number those of the
                                          ///< thread.
  NotedHit hit[kKeptHits];                ///< As many as `hits` says, from the first on.

  bool has(std::uint32_t number) const { return (numbers[number / 64] >> number % 64 & 1) != 0; }
};

/// By a rule's place: its generation, if it was for a thread that has ended. Another may get the thread's id.
struct EndedRules {
  std::uint64_t generation[kFaultRules];
};

/// All zero at first. By the process, but for the counts of a rule.
struct FaultBook {
  std::atomic<std::uint64_t> opened;                           ///< Rules so far, by all backends of the process.
  std::atomic<std::uint32_t> high;                             ///< Rules [0, high) may be open.
  std::atomic<std::uint8_t> descriptors[FaultRule::kNumbers];  ///< Bit i: argument i is a descriptor of the call.

  BookedRule rule[kFaultRules];

  /// By the thread with that id: in how many stretches of syscost's own work it is.
  std::atomic<std::uint8_t> own_work[kThreadIds];
};

}  // namespace syscost::seccomp
