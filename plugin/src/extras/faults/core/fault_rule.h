// SPDX-License-Identifier: MIT
//
// A rule by which calls of the program fail, wait or are noted, whatever the backend; and what a backend offers for it.
//
// A rule belongs to one thread or to all. While several are open, the one that was opened last is asked first: what it
// answers does not reach the others, but rules of `Effect::watch` see every call.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/extensions.h"
#include "core/selector.h"
#include "extras/trace/core/call_trace.h"
#include "extras/where/core/call_stack.h"
#include "os/errors.h"

namespace syscost {

struct FaultRule {
  static constexpr std::size_t kNumbers = 512;
  static constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kMostDelayNs = std::uint64_t{3600} * 1'000'000'000;
  static constexpr std::int64_t kMostErrno = 4095;

  /// Which calls match: by their number in the native ABI.
  std::bitset<kNumbers> numbers;
  bool is_process_wide = false;       ///< Else only calls of the thread that opens the rule.
  bool promises_all_threads = false;  ///< It is refused while there are threads that it would not reach.

  /// Which of the matching calls are hit, by their number from 1 on: first, first + step, ... up to last.
  std::uint64_t first = 1;
  std::uint64_t last = kEver;
  std::uint64_t step = 1;
  bool is_per_thread = false;  ///< Each thread numbers its own calls, as strace does; else one number for all.
  /// The share of these that is hit, from 0 to 1, by a generator of numbers that begins with `seed`.
  double probability = 1;
  std::uint64_t seed = 0;
  /// Hit only when matching calls have moved so many bytes. The call that comes to it moves what is left.
  std::optional<std::uint64_t> after_bytes;

  /// Only calls about a file that is all of this match: by an argument that is a descriptor, or a path.
  std::optional<int> descriptor;
  std::string path;            ///< Absolute, without `/` at its end; empty = any.
  std::string real_path;       ///< The same file as the kernel names it, without links.
  bool is_path_below = false;  ///< Also what is below it.
  std::uint32_t kinds = 0;     ///< Bits 1 << (st_mode >> 12); 0 = any.
  bool has_file() const { return descriptor.has_value() || !path.empty() || kinds != 0; }

  /// The effect of a hit.
  std::optional<std::int64_t> result;       ///< No call is made, and this is the result: -errno, or a value.
  std::optional<std::uint64_t> most_bytes;  ///< The call moves at most so many, 1 or more; else it is not hit.
  std::uint64_t delay_enter_ns = 0;
  std::uint64_t delay_exit_ns = 0;

  bool is_watch = false;    ///< It sees calls that an inner rule has answered, too.
  bool keeps_hits = false;  ///< The first hits can be read.
};

/// A call that a rule hit.
struct FaultHit {
  std::uint32_t number = 0;
  std::array<std::uint64_t, 6> arguments = {};
  std::optional<std::int64_t> result;  ///< The answer of this rule or an inner one; empty = the call was made.
  std::uint32_t thread = 0;            ///< The kernel's id.
  std::uint32_t stack = 0;             ///< CallDetail::origin; 0 = unknown.
  std::vector<CallEvent::Text> paths;  ///< Those in its arguments; one that could not be read is missing.
};

struct FaultCounts {
  std::uint64_t matches = 0;  ///< Calls that the rule looked at.
  std::uint64_t hits = 0;
  std::uint64_t unnumbered = 0;  ///< Matches that were let through: there was no memory for a count of their thread.
  std::uint64_t filtered = 0;  ///< Calls that were let through: a filter of the program may forbid what the rule needs.
};

/// An open rule.
struct FaultId {
  std::uint32_t place = 0;
  std::uint64_t generation = 0;  ///< 0 = none.
};

/// Puts faults into the program's calls, for a backend that makes or answers them; none into those of a thread that
/// works for syscost. Any thread may call any function at any time; none makes a syscall or takes memory of the heap,
/// except close() with hits.
class FaultInjector : public OwnWorkListener {
 public:
  static constexpr std::string_view kExtension = "faults";  ///< Backend::extension()

  /// From now on the rule is asked. Fails if too many are open, if the calling thread's calls are not seen, or if the
  /// backend cannot do what the rule says.
  virtual Result<FaultId> open(const FaultRule& rule) = 0;
  /// How many threads of the process no rule reaches. Makes syscalls if there may be any: syscost's own work.
  virtual std::size_t count_unreached_threads() const { return 0; }
  virtual FaultCounts counts(FaultId rule) const = 0;
  /// From now on hits that are kept have their stacks, if they can be found here; else fails with the reason. Makes
  /// syscalls the first time: syscost's own work.
  virtual Result<void> begin_stacks() {
    return Failure{"backend dispatch alone finds them", "use --syscost_backend dispatch"};
  }
  /// The source of the stacks of hits; null before begin_stacks(), if the backend has none by itself.
  virtual const StackSource* stacks() const { return nullptr; }
  /// The first hits of a rule with keeps_hits.
  virtual std::vector<FaultHit> hits(FaultId rule) const = 0;
  /// No call that begins after this meets the rule. Its counts and kept hits stay until close(). A backend that cannot
  /// do this does nothing: then the rule ends by close() alone.
  virtual void stop(FaultId /*rule*/) {}
  /// The same, and another rule may take the place of what was counted.
  virtual void close(FaultId rule) = 0;

  /// True if a brk that fails returns the break, as the kernel's does. libc takes an errno for a break that has moved,
  /// and the program crashes.
  virtual bool answers_brk() const { return false; }

  /// True if calls of a fork child can meet rules.
  virtual bool begins_in_fork_children() const { return false; }
  /// In a fork child that has one thread: from now on rules can be opened for its calls. Those of the parent are gone.
  virtual Result<void> begin_in_fork_child() {
    return Failure{"the backend makes no calls in a fork child", "use --syscost_backend dispatch"};
  }
};

/// The numbers that a rule may have of those that a selector selects. `refused`: a syscall that it names, or the only
/// one that it selects, and that must not fail because the program could not go on: a return from a signal handler, the
/// end of a thread. A selector of many (`%process`) leaves these out.
struct FaultNumbers {
  std::bitset<FaultRule::kNumbers> numbers;
  std::string refused;
};
/// `text`: what `wanted` was read from. `is_brk_refused`: brk is one of those that must not fail.
FaultNumbers fault_numbers(std::string_view text, const Selector& wanted, bool is_brk_refused = false);

/// True if the result of such a call is a number of bytes that it has read or written.
bool moves_bytes(std::uint32_t number);
/// True if such a call can be made to move fewer.
bool can_be_shortened(std::uint32_t number);

}  // namespace syscost
