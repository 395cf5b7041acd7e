// SPDX-License-Identifier: MIT
//
// Break it on purpose: let syscalls of a stretch of code fail, or forbid them.
//
//     syscost::Fault fault("write", ENOSPC, syscost::nth(3));   // the third write of this thread fails
//     EXPECT_FALSE(log.flush(batch));
//     EXPECT_EQ(fault.hits(), 1);
//
//     syscost::Forbid forbid("%network");                        // each call is reported as a failure of the test
//
// A failed call is not made: the program gets the error, as from the kernel. Backend dispatch can do this, because it
// makes the program's calls itself, and within limits seccomp, which answers them. A program that uses Fault or Forbid
// has dispatch as its backend, or seccomp where dispatch is denied, unless another one is named (--syscost_backend).
// Dispatch does not see threads that are older than itself: while there are any, Reach::process is refused. With
// GoogleTest, Catch2 and doctest, dispatch opens before the first test.
// Where a fault is not possible, the test is skipped on a developer's machine and fails where CI is set, as for
// syscost::Count. docs/faults.md has the whole story.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/export.h"
#include "syscost/syscost.h"

namespace syscost {

namespace session {
struct OpenFault;  // src/extras/faults/session/faults.h
}

enum class FileType { regular, folder, pipe, socket, character_device, block_device };

/// Which of the calls that match are hit. Matching calls have numbers from 1 on, in the order in which they begin.
struct When {
  static constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t first = 1;
  std::uint64_t last = kEver;
  std::uint64_t step = 1;                    ///< first, first + step, first + 2 * step, ... up to last.
  bool is_per_thread = false;                ///< Each thread has numbers of its own; only of use with Reach::process.
  double probability = 1;                    ///< From 0 to 1: of these, about so many.
  std::uint64_t seed = 0;                    ///< The same seed chooses the same calls.
  std::optional<std::uint64_t> after_bytes;  ///< Hit only when matching calls have moved so many bytes.

  /// `nth(3).in_each_thread()`: the third call of each thread, as strace counts. Without it, a Fault with
  /// Reach::process has one count for all threads, and hits the third call of any.
  When in_each_thread() const {
    When when = *this;
    when.is_per_thread = true;
    return when;
  }

  // Only calls about such a file match, if one is named: by a descriptor or a path among their arguments.
  std::optional<int> descriptor;
  std::string path;
  bool is_below = false;  ///< Also what is below the path.
  std::optional<FileType> kind;

  /// `nth(3).on_descriptor(fd)`: the third call on that descriptor.
  When on_descriptor(int number) const {
    When when = *this;
    when.descriptor = number;
    return when;
  }
  /// Calls that name this path, and calls of descriptors whose file has this name when the call is made: not any more
  /// after a rename. A relative path begins in the working directory of now.
  When on_path(std::string_view name) const {
    When when = *this;
    when.path = name;
    return when;
  }
  /// The same for everything in a folder, and the folder itself.
  When below(std::string_view folder) const {
    When when = on_path(folder);
    when.is_below = true;
    return when;
  }
  /// Calls of a descriptor for a file of this kind.
  When on(FileType which) const {
    When when = *this;
    when.kind = which;
    return when;
  }
};

/// Every call.
inline When each() {
  return {};
}
/// Only the n-th, from 1 on.
inline When nth(std::uint64_t n) {
  When when;
  when.first = when.last = n;
  return when;
}
/// The first n: a storm of EAGAIN, for example.
inline When first(std::uint64_t n) {
  When when;
  when.last = n;
  return when;
}
/// The n-th and all after it.
inline When from(std::uint64_t n) {
  When when;
  when.first = n;
  return when;
}
/// The k-th, the 2k-th, the 3k-th and so on.
inline When every(std::uint64_t k) {
  When when;
  when.first = when.step = k;
  return when;
}
/// Each with the probability `p` from 0 to 1. The n-th call is hit if the n-th number of SplitMix64 with this seed is
/// less than p * 2^64, so a run can be repeated.
inline When probability(double p, std::uint64_t seed) {
  When when;
  when.probability = p;
  when.seed = seed;
  return when;
}
/// As a disk that has room for `bytes`: calls that read or write move them, the one that would move more is shortened,
/// and the later ones are hit, except those that ask for 0 bytes. Only results that are numbers of bytes count. sendmsg
/// and recvmsg are not shortened, so one of them may move more. With Reach::process, calls that run at the same time
/// may together move more: each of them gets what was left when it began.
inline When after(std::uint64_t bytes) {
  When when;
  when.after_bytes = bytes;
  return when;
}

/// The effect on a call that is hit, if it is not just an error.
struct Effect {
  std::optional<std::int64_t> result = {};  ///< No call is made; -errno, or what the call returns.
  /// The call reads or writes at most so many, 1 or more. One that would move no more is not hit. docs/faults.md lists
  /// the syscalls that can be shortened; a fault that selects none of them is refused.
  std::optional<std::uint64_t> most_bytes = {};
  std::chrono::nanoseconds delay_enter{0};  ///< The thread waits before the call, up to an hour.
  std::chrono::nanoseconds delay_exit{0};   ///< The thread waits after it.
};

/// A short read or write: `Fault fault("write", shorten(100))`.
inline Effect shorten(std::uint64_t most_bytes) {
  Effect effect;
  effect.most_bytes = most_bytes;
  return effect;
}
/// A slow call: `Fault fault("fsync", delay(5ms))`. The thread waits before the call.
inline Effect delay(std::chrono::nanoseconds time) {
  Effect effect;
  effect.delay_enter = time;
  return effect;
}

/// While it exists, calls that `selector` selects (syscost/cost.h) fail.
///
/// Faults nest: the one made last is asked first, and what it answers does not reach the others. In a fork child it is
/// inert. A Fault of one thread never hits another; it ends on the thread that made it. A signal handler must not make
/// or end one, nor a Forbid: it may have interrupted a thread that is just doing so, and would wait for it for ever.
/// Calls of syscost itself are never hit. rt_sigreturn, exit, exit_group and restart_syscall cannot fail: a selector of
/// many leaves them out. A brk that fails returns the break as it was, as from the kernel, whatever the errno; on
/// backend seccomp it cannot fail.
///
/// Where nothing can fail (another backend, a bad selector), the test is skipped or fails with the reason, and the
/// object does nothing. If the framework cannot end the test there, is_active() is false. Leave `file` and `line` out:
/// they are those of the caller, and messages name them.
class SYSCOST_EXPORT Fault {
 public:
  /// `error`: an errno, from 1 to 4095.
  Fault(std::string_view selector, int error, const When& when = each(), Reach reach = Reach::thread,
        const char* file = __builtin_FILE(), int line = __builtin_LINE());
  Fault(std::string_view selector, const Effect& effect, const When& when = each(), Reach reach = Reach::thread,
        const char* file = __builtin_FILE(), int line = __builtin_LINE());
  ~Fault();  // NOLINT(performance-trivially-destructible): a stand-in for the library has nothing to do in it
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  bool is_active() const { return open_ != nullptr; }
  /// Calls that were hit, so far.
  std::uint64_t hits() const;
  /// Calls that matched: those which the fault looked at.
  std::uint64_t matches() const;

 private:
  session::OpenFault* open_ = nullptr;  // null = inert
};

/// A forbidden call.
struct ForbiddenCall {
  std::string call;  ///< As strace prints it: `openat(AT_FDCWD, "/etc/hosts", O_RDONLY)`.
  std::string line;  ///< `at src/log.cc:17 Log::batch+3`; empty if it is unknown (glibc before 2.35).
  /// The frames in your own code, from that of the line to its callers, at most 8: `src/log.cc:17 Log::batch+3`.
  std::vector<std::string> stack;
  std::uint32_t thread = 0;
};

/// While it exists, calls that `selector` selects are forbidden. Its end reports those that were made as a failure of
/// the running test at the line of the Forbid, with their arguments and lines. They are made all the same,
/// except after deny(). `file` and `line` as for a Fault.
class SYSCOST_EXPORT Forbid {
 public:
  explicit Forbid(std::string_view selector, Reach reach = Reach::thread, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE());
  ~Forbid();  // NOLINT(performance-trivially-destructible): the same
  Forbid(const Forbid&) = delete;
  Forbid& operator=(const Forbid&) = delete;

  /// From now on a forbidden call is not made and fails with `error`.
  void deny(int error);

  bool is_active() const { return open_ != nullptr; }
  /// How many were made, so far.
  std::uint64_t hits() const;
  /// The first 16 of them.
  std::vector<ForbiddenCall> calls() const;
  /// The text that the end would report; empty if nothing was called. After this the end reports nothing.
  std::string take_report();

 private:
  session::OpenFault* open_ = nullptr;  // null = inert
};

}  // namespace syscost
