// SPDX-License-Identifier: MIT
//
// Fails each syscall of a stretch of code in turn, as SQLite's tests do.
//
//     const syscost::Sweep sweep = syscost::for_each_failure("%file,write,fsync,close", [&] { return save(path); });
//     EXPECT_TRUE(sweep.is_clean()) << sweep;
//
// The body runs once without a failure, to learn its calls on this thread. Then it runs again for each of them and each
// error of syscost/call_errors.h, with a syscost::Fault for the n-th call. It should put back what it changes, or let
// `prepare` do it. A crash or a body that hangs ends the test program: `bench faults` runs each failure in a process of
// its own (docs/sweeps.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "syscost/call_errors.h"
#include "syscost/faults.h"
#include "syscost/syscost.h"

namespace syscost {

/// What the body made of one failure.
enum class AfterFailure {
  survived,      ///< It returned, and said that all is well; what it promises holds.
  reported,      ///< It returned false, or threw an exception.
  said_success,  ///< It said that all is well, and SweepOptions::promise does not hold.
  broken,        ///< SweepOptions::invariant does not hold.
  leaked,        ///< It left descriptors, threads or child processes.
  not_reached,   ///< It made fewer calls this time, so none was failed. No success.
};

struct SweepOptions {
  /// Runs before each run of the body, without failures.
  std::function<void()> prepare = {};
  /// What the body promises when it returns without an error. Asked only then, without failures.
  std::function<bool()> promise = {};
  /// What must hold after each run, also after an error: for example, that the old file or the new one is there.
  std::function<bool()> invariant = {};
  /// Errors for each call, instead of those of the table.
  std::vector<int> errors = {};
  /// False: descriptors, threads and child processes that the body leaves are no fault.
  bool checks_leaks = true;
};

/// One failure and what came of it.
struct SweptFailure {
  std::string syscall;
  int error = 0;
  std::uint64_t nth = 0;  ///< Among the calls of the syscall, from 1 on.
  AfterFailure outcome = AfterFailure::not_reached;
  std::string detail;  ///< What was left open, or the exception's text; may be empty.
};

class Sweep {
 public:
  std::vector<SweptFailure> failures;
  std::string why_none;  ///< Why nothing was failed; empty if something was.

  /// True if failures were tried, all were met, and each was survived or reported.
  bool is_clean() const {
    return why_none.empty() && std::all_of(failures.begin(), failures.end(), [](const SweptFailure& one) {
             return one.outcome == AfterFailure::survived || one.outcome == AfterFailure::reported;
           });
  }
  std::size_t count(AfterFailure outcome) const {
    return static_cast<std::size_t>(std::count_if(failures.begin(), failures.end(),
                                                  [&](const SweptFailure& one) { return one.outcome == outcome; }));
  }

  /// The numbers of each outcome, then a line for each failure that is not clean.
  friend std::ostream& operator<<(std::ostream& out, const Sweep& sweep) {
    if (!sweep.why_none.empty()) return out << "no failure was tried: " << sweep.why_none;
    out << sweep.failures.size() << (sweep.failures.size() == 1 ? " failure" : " failures");
    const char* before = ": ";
    for (const AfterFailure one : {AfterFailure::survived, AfterFailure::reported, AfterFailure::said_success,
                                   AfterFailure::broken, AfterFailure::leaked, AfterFailure::not_reached}) {
      if (sweep.count(one) == 0) continue;
      out << before << sweep.count(one) << ' ' << words(one);
      before = ", ";
    }
    for (const SweptFailure& one : sweep.failures) {
      if (one.outcome == AfterFailure::survived || one.outcome == AfterFailure::reported) continue;
      out << "\n  " << words(one.outcome) << ": call " << one.nth << " of " << one.syscall << " fails with "
          << name_of(one.syscall, one.error);
      if (!one.detail.empty()) out << ": " << one.detail;
    }
    return out;
  }

  static std::string_view words(AfterFailure outcome) {
    switch (outcome) {
      case AfterFailure::survived:
        return "survived";
      case AfterFailure::reported:
        return "reported";
      case AfterFailure::said_success:
        return "said success";
      case AfterFailure::broken:
        return "broke the invariant";
      case AfterFailure::leaked:
        return "leaked";
      case AfterFailure::not_reached:
        break;
    }
    return "not reached";
  }

 private:
  /// `ENOSPC`, or `errno 28` for one that the table does not have.
  static std::string name_of(std::string_view syscall, int error) {
    for (const CallError& one : kCallErrors) {
      if (one.error == error && one.syscall == syscall) return std::string(one.name);
    }
    for (const CallError& one : kCallErrors) {
      if (one.error == error) return std::string(one.name);
    }
    return "errno " + std::to_string(error);
  }
};

namespace detail {

/// True if the body said that all is well.
template <class Body>
bool run_swept(Body& body, std::string& text) {
  try {
    if constexpr (std::is_same_v<std::invoke_result_t<Body&>, bool>) {
      return body();
    } else {
      body();
      return true;
    }
  } catch (const std::exception& exception) {
    text = exception.what();
  } catch (...) {
    text = "an exception of another kind";
  }
  return false;
}

inline std::vector<int> swept_errors(const std::string& syscall, const SweepOptions& options) {
  if (!options.errors.empty()) return options.errors;
  std::vector<int> errors;
  for (const CallError& one : kCallErrors) {
    if (one.syscall == syscall) errors.push_back(one.error);
  }
  return errors;
}

}  // namespace detail

/// Runs `body` once, then once for each failure. `body` returns nothing, or false for an error; an exception is an
/// error, too. `selector` as in syscost/cost.h; calls for which the table has no error are left out, unless
/// SweepOptions::errors has one. Only calls of the calling thread are learned and failed. Needs backend dispatch, as
/// Fault does.
template <class Body>
Sweep for_each_failure(std::string_view selector, Body&& body, const SweepOptions& options = {}) {
  Sweep sweep;
  std::string text;
  bool is_well = true;
  if (options.prepare) options.prepare();
  const Cost cost = measure([&] { is_well = detail::run_swept(body, text); });
  const Count chosen = cost.calls(selector);
  if (!cost.available()) {
    sweep.why_none = cost.unavailable()->reason;
  } else if (!chosen.has_value()) {
    sweep.why_none = chosen.unavailable() != nullptr ? chosen.unavailable()->reason : "calls were lost";
  } else if (!is_well) {
    sweep.why_none = "the body fails by itself" + (text.empty() ? std::string() : ": " + text);
  }
  if (!sweep.why_none.empty()) return sweep;
  for (const SyscallCost& call : cost.syscalls()) {
    // A call is selected if the selector selects fewer without it.
    const std::string others = std::string(selector) + ",!" + call.name;
    if (cost.calls(others) == chosen) continue;
    for (const int error : detail::swept_errors(call.name, options)) {
      for (std::uint64_t n = 1; n <= call.calls; ++n) {
        SweptFailure failure{call.name, error, n, AfterFailure::not_reached, {}};
        if (options.prepare) options.prepare();
        const LeakCheck leaks;
        std::uint64_t hits = 0;
        {
          const Fault fault(call.name, error, nth(n));
          is_well = detail::run_swept(body, failure.detail);
          hits = fault.hits();
        }
        std::string left = options.checks_leaks && hits > 0 ? leaks.left() : std::string();
        // A failed close() leaves its descriptor open, because the call was not made.
        if (call.name == "close" && left.find(',') == std::string::npos) left.clear();
        if (hits > 0) failure.outcome = is_well ? AfterFailure::survived : AfterFailure::reported;
        if (hits > 0 && is_well && options.promise && !options.promise()) failure.outcome = AfterFailure::said_success;
        if (!left.empty()) {
          failure.outcome = AfterFailure::leaked;
          failure.detail = std::move(left);
        }
        if (hits > 0 && options.invariant && !options.invariant()) failure.outcome = AfterFailure::broken;
        sweep.failures.push_back(std::move(failure));
      }
    }
  }
  if (sweep.failures.empty()) sweep.why_none = "the body makes no call that the selector and the table of errors have";
  return sweep;
}

}  // namespace syscost
