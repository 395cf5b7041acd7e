// SPDX-License-Identifier: MIT
//
// Cost: the syscalls of a measured stretch of code.
//
// A number that was not measured must never read as 0: a test that asks `EXPECT_LE(cost.calls("write"), 1)` on a
// machine where nothing can be counted would pass for the wrong reason. So the numbers come as `Count`, which
// either holds an exact number or the reason why there is none; a Count without a number compares false
// with everything (or, inside GoogleTest on a developer's machine, skips the test: see syscost/gtest.h).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "syscost/export.h"
#include "syscost/histogram.h"

namespace syscost {

/// Why something is missing, and how to get it. Both are whole sentences for people.
struct Unavailable {
  std::string reason;
  std::string how_to_fix;
  /// True when no test can have it here: the backend in use does not measure such a thing.
  bool is_beyond_backend = false;
  /// True when the number is missing only because of how syscost measures, and the same code has it later in this run.
  bool comes_later = false;
  /// True if the test itself is wrong: its selector names no syscall, or its number is no errno. That is no reason to
  /// skip the test.
  bool is_mistake = false;
};

/// An exact count, or the reason why there is none. Compares with any integer and with another Count. Copying allocates
/// nothing when a number is there.
///
/// Where events were lost there is no number either, only a lower bound. Then `>=` and `>` are true if the bound proves
/// them, and every other comparison is false. value() is empty.
class SYSCOST_EXPORT Count {
 public:
  explicit Count(std::uint64_t value) : value_(value) {}
  /// No number; null = no reason was given.
  explicit Count(std::shared_ptr<const Unavailable> why);
  /// `value` or more: `lost` (not 0) events happened that may or may not belong to it.
  static Count at_least(std::uint64_t value, std::uint64_t lost);
  // No moves: one that lost its reason would read as a number.
  Count(const Count&) = default;
  Count& operator=(const Count&) = default;
  ~Count() = default;

  bool has_value() const { return why_ == nullptr; }
  /// The number; empty when nothing was measured.
  std::optional<std::uint64_t> value() const { return has_value() ? std::optional(value_) : std::nullopt; }
  /// The number, or `fallback` when there is none.
  std::uint64_t value_or(std::uint64_t fallback) const { return has_value() ? value_ : fallback; }
  /// Why there is no number; null when there is one.
  const Unavailable* unavailable() const { return why_.get(); }

  // Comparisons are exact for signed and unsigned operands. Without a number they answer what the framework adapter
  // decided for unavailable assertions (false without one); lost events are no excuse.
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator==(const Count& a, Int b) {
    return (a.compare(b) & kEq) != 0;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator!=(const Count& a, Int b) {
    return (a.compare(b) & kNe) != 0;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator<(const Count& a, Int b) {
    return (a.compare(b) & kLt) != 0;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator<=(const Count& a, Int b) {
    return (a.compare(b) & kLe) != 0;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator>(const Count& a, Int b) {
    return (a.compare(b) & kGt) != 0;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator>=(const Count& a, Int b) {
    return (a.compare(b) & kGe) != 0;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator==(Int a, const Count& b) {
    return b == a;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator!=(Int a, const Count& b) {
    return b != a;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator<(Int a, const Count& b) {
    return b > a;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator<=(Int a, const Count& b) {
    return b >= a;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator>(Int a, const Count& b) {
    return b < a;
  }
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
  friend bool operator>=(Int a, const Count& b) {
    return b <= a;
  }
  friend bool operator==(const Count& a, const Count& b) { return (a.compare(b) & kEq) != 0; }
  friend bool operator!=(const Count& a, const Count& b) { return (a.compare(b) & kNe) != 0; }
  friend bool operator<(const Count& a, const Count& b) { return (a.compare(b) & kLt) != 0; }
  friend bool operator<=(const Count& a, const Count& b) { return (a.compare(b) & kLe) != 0; }
  friend bool operator>(const Count& a, const Count& b) { return (a.compare(b) & kGt) != 0; }
  friend bool operator>=(const Count& a, const Count& b) { return (a.compare(b) & kGe) != 0; }

  /// Prints the number, `n/a (reason; how to fix)`, or `at least 3 (1 lost)`.
  friend SYSCOST_EXPORT std::ostream& operator<<(std::ostream& out, const Count& count);

 private:
  /// The comparisons that hold, as a set.
  enum Holding : unsigned {
    kNone = 0,
    kEq = 1,
    kNe = 2,
    kLt = 4,
    kLe = 8,
    kGt = 16,
    kGe = 32,
    kEqual = kEq | kLe | kGe,
    kLess = kNe | kLt | kLe,
    kGreater = kNe | kGt | kGe,
    kAll = kEqual | kNe | kLt | kGt,
  };

  template <class Int>
  Holding compare(Int other) const {
    if constexpr (std::is_signed_v<Int>) {
      // Less than every count, be it only a bound.
      if (other < 0 && has_value()) return kGreater;
      if (other < 0 && lost_ > 0) return static_cast<Holding>(kGt | kGe);
    }
    return compare(Count(static_cast<std::uint64_t>(other)));
  }
  Holding compare(const Count& other) const;
  /// True when the number comes later, or the framework adapter skipped the running test because it is missing.
  bool excused() const;

  std::uint64_t value_ = 0;  // a lower bound when lost_ > 0
  std::uint64_t lost_ = 0;
  std::shared_ptr<const Unavailable> why_;  // null = value_ is exact
};

/// One syscall's numbers within a Cost. Times in ns.
///
///     entries = calls + restarts + in_flight + no_return
struct SyscallCost {
  std::string name;              ///< As strace prints it; `syscall_N` where the number has no name here.
  std::uint64_t entries = 0;     ///< Trips into the kernel: what strace counts.
  std::uint64_t calls = 0;       ///< Syscalls that returned a result to the program; includes restart_syscall.
  std::uint64_t restarts = 0;    ///< Trips that the kernel ended to start the same call again.
  std::uint64_t in_flight = 0;   ///< Entered in the window, had not returned at its end.
  std::uint64_t no_return = 0;   ///< Will never return: exit and exit_group.
  std::uint64_t carried_in = 0;  ///< Returned in the window but entered before it: not in `entries`.
  std::uint64_t denied = 0;      ///< Stopped by a seccomp filter before the kernel entered it: not in `entries`.
  struct Error {
    int number = 0;  ///< errno as the program saw it
    std::uint64_t count = 0;
  };
  std::vector<Error> errors;  ///< By errno, ascending: of `calls` and of `denied`.
  Histogram latency;          ///< One value per returned entry (calls and restarts), by the kernel's clock.
};

/// Calls of one syscall that one line of the program made.
struct CallSite {
  std::string syscall;      ///< As SyscallCost::name.
  std::string place;        ///< `at src/log.cc:17 Log::batch`, as the CSV's column `detail` has it; docs/where.md.
  std::uint64_t calls = 0;  ///< That returned a result to the program; at least 1.
};

namespace detail {
struct CostData;    // src/core/cost_data.h
struct CostAccess;  // src/core/cost_data.h
}  // namespace detail

/// The work that one window asked of the kernel: a value, cheap to copy, readable from any thread.
///
/// A selector names syscalls: a name ("write"), a class ("%file"; docs/flags.md lists them), a regular expression
/// ("/^epoll_/"), "*" for all, or a comma-separated list of these in which "!" removes ("%desc,!close"). A selector
/// that names nothing known makes the Count unavailable, with the reason: a typing error must not read as "0 calls".
class SYSCOST_EXPORT Cost {
 public:
  /// A Cost without numbers.
  explicit Cost(Unavailable why);
  explicit Cost(std::shared_ptr<const detail::CostData> data);

  bool available() const;
  /// Why there are no numbers; null when there are.
  const Unavailable* unavailable() const;

  Count calls(std::string_view selector = "*") const;    ///< Syscalls that returned a result to the program.
  Count entries(std::string_view selector = "*") const;  ///< Trips into the kernel (strace's count).
  Count errors(std::string_view selector = "*") const;   ///< Calls that failed.
  /// Calls that failed with errno `number`, e.g. ENOENT.
  Count errors(std::string_view selector, int number) const;
  /// Time between kernel entry and exit, summed over returned entries, in ns. Includes time blocked.
  Count kernel_ns(std::string_view selector = "*") const;
  /// Bytes that calls moved, or mapped: the sum of column `bytes` (docs/csv-format.md). Name syscalls of one kind:
  /// `bytes("write,pwrite64")`, `bytes("mmap,mremap,brk")`.
  Count bytes(std::string_view selector) const;
  /// Bytes that munmap, mremap and brk unmapped.
  Count bytes_released(std::string_view selector = "munmap,mremap,brk") const;
  /// Calls that succeeded and moved less than asked, of syscalls that have the size as an argument: column
  /// `short_calls`.
  Count short_calls(std::string_view selector) const;

  /// Events that happened but could not be attributed: 0, or the counts above are lower bounds.
  Count lost() const;

  /// Every syscall of the window, most entries first. Empty when unavailable; lower bounds when lost() is not 0.
  std::vector<SyscallCost> syscalls() const;

  /// One line for people: `1024 write, 3 openat (1 ENOENT)`, `no syscalls`, or `n/a (reason)`.
  std::string to_string() const;
  friend SYSCOST_EXPORT std::ostream& operator<<(std::ostream& out, const Cost& cost);

 private:
  friend struct detail::CostAccess;
  std::shared_ptr<const detail::CostData> data_;
  std::shared_ptr<const Unavailable> why_;
};

}  // namespace syscost
