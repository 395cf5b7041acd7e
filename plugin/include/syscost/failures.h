// SPDX-License-Identifier: MIT
//
// Fails each syscall of a stretch of code in turn, as SQLite's tests do.
//
//     const syscost::Sweep sweep = syscost::for_each_failure("%file,write,fsync,close", [&] { return save(path); });
//     EXPECT_TRUE(sweep.is_clean()) << sweep;
//
// The body runs once without a failure, to learn its calls on this thread. Then it runs again for each of them and each
// error of syscost/call_errors.h, with a syscost::Fault for the n-th call: in a fork child of its own, so that a crash,
// a hang or a body that ends the program is an outcome like others, and nothing that the body leaves in memory reaches
// the next run. Processes that it leaves are killed. A process with other threads cannot do that, and faults that are
// open outside end in a child; there the runs are in the process itself, and a crash ends it. `bench faults` does the
// same to tests as they are (docs/faults.md).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "syscost/call_errors.h"
#include "syscost/export.h"
#include "syscost/faults.h"
#include "syscost/syscost.h"

namespace syscost {

/// How the body dealt with one failure.
enum class AfterFailure {
  survived,      ///< It returned, and said that all is well; what it promises holds.
  reported,      ///< It returned false, or threw an exception.
  said_success,  ///< It said that all is well, and SweepOptions::promise does not hold.
  broken,        ///< SweepOptions::invariant does not hold.
  leaked,        ///< It left descriptors, threads, child processes or, where it is isolated, memory of the heap.
  crashed,       ///< A signal ended it.
  hung,          ///< It was not done within SweepOptions::limit.
  exited,        ///< It ended the process.
  not_reached,   ///< It made fewer calls this time, so none was failed. No success.
};

struct SweepOptions {
  /// Runs before each run of the body, without failures.
  std::function<void()> prepare = {};
  /// The body's promise when it returns without an error. Asked only then, without failures.
  std::function<bool()> promise = {};
  /// Must hold after each run, also after an error: for example, that the old file or the new one is there.
  std::function<bool()> invariant = {};
  /// Errors for each call, instead of those of the table.
  std::vector<int> errors = {};
  /// False: descriptors, threads, child processes and memory that the body leaves are no fault.
  bool checks_leaks = true;
  /// False: every run is in this process. The body's effects there stay, and a crash ends the program.
  bool isolates = true;
  /// For one run, its checks included; only where it is isolated.
  std::chrono::nanoseconds limit = std::chrono::seconds(10);
};

/// One failure and what came of it.
struct SweptFailure {
  std::string syscall;
  int error = 0;
  std::uint64_t nth = 0;  ///< Among the calls of the syscall, from 1 on.
  AfterFailure outcome = AfterFailure::not_reached;
  std::string detail;  ///< The things left open, or the exception's text; may be empty.
};

class Sweep {
 public:
  std::vector<SweptFailure> failures;
  std::string why_none;          ///< Why nothing was failed; empty if something was.
  std::string why_not_isolated;  ///< Why runs were in this process; empty if each was in a child.
  std::string left_always;       ///< The things that the body leaves without a failure, too; empty if none.

  /// True if failures were tried, all were met, and each was survived or reported; and the body leaves nothing by
  /// itself.
  bool is_clean() const {
    return why_none.empty() && left_always.empty() &&
           std::all_of(failures.begin(), failures.end(), [](const SweptFailure& one) {
             return one.outcome == AfterFailure::survived || one.outcome == AfterFailure::reported;
           });
  }
  std::size_t count(AfterFailure outcome) const {
    return static_cast<std::size_t>(std::count_if(failures.begin(), failures.end(),
                                                  [&](const SweptFailure& one) { return one.outcome == outcome; }));
  }

  /// The numbers of each outcome, a line for each failure that is not clean, and why runs were in this process.
  friend std::ostream& operator<<(std::ostream& out, const Sweep& sweep) {
    if (!sweep.why_none.empty()) return out << "no failure was tried: " << sweep.why_none;
    out << sweep.failures.size() << (sweep.failures.size() == 1 ? " failure" : " failures");
    const char* before = ": ";
    for (const AfterFailure one : {AfterFailure::survived, AfterFailure::reported, AfterFailure::said_success,
                                   AfterFailure::broken, AfterFailure::leaked, AfterFailure::crashed,
                                   AfterFailure::hung, AfterFailure::exited, AfterFailure::not_reached}) {
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
    if (!sweep.left_always.empty()) out << "\n  leaked without any failure, too: " << sweep.left_always;
    if (!sweep.why_not_isolated.empty()) out << "\n  the runs were in this process: " << sweep.why_not_isolated;
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
      case AfterFailure::crashed:
        return "crashed";
      case AfterFailure::hung:
        return "hung";
      case AfterFailure::exited:
        return "ended the process";
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

namespace failure_detail {

/// A body that ran in a fork child.
struct ChildRun {
  std::string why_none = {};     ///< It did not run; empty = it did.
  bool has_said = false;         ///< It came to its end.
  bool has_failed_test = false;  ///< By an assertion of the framework: the running test has failed.
  std::string said = {};         ///< At most 64 KiB.
  bool is_timed_out = false;
  int signal = 0;  ///< That ended it; 0 = none.
  int code = 0;    ///< The exit code.
};

SYSCOST_EXPORT ChildRun run_in_child(const std::function<std::string()>& body, std::chrono::nanoseconds limit);
/// The bytes that the program holds of glibc's heap, plus a constant. The difference of two is exact for one thread.
/// Always 0 with another allocator, with a glibc before 2.33, and once the running test has failed. Takes and frees
/// memory.
SYSCOST_EXPORT std::uint64_t heap_bytes();

/// True if the body said that all is well. `text` has the room that earlier runs took, so that it takes none itself.
template <class Body>
bool run_swept(Body& body, std::string& text) {
  text.clear();
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

/// By how much the heap grows at least in each of three to six more runs, beyond what it grows by without the failure.
/// A thing made once, such as a buffer or a cache, is no leak.
template <class Body>
std::uint64_t heap_leak(Body& body, const SweptFailure& failure, const SweepOptions& options, std::string& text) {
  constexpr int kRuns = 3;
  const auto growth = [&](bool fails) {
    if (options.prepare) options.prepare();
    const std::uint64_t before = heap_bytes();
    if (fails) {
      const Fault fault(failure.syscall, failure.error, nth(failure.nth));
      run_swept(body, text);
    } else {
      run_swept(body, text);
    }
    const std::uint64_t after = heap_bytes();
    return after > before ? after - before : 0;
  };
  std::uint64_t least = growth(true);
  for (int i = 1; i < kRuns && least > 0; ++i) least = std::min(least, growth(true));
  if (least == 0) return 0;
  const std::uint64_t first_without = growth(false);  // a container that grows for many runs grows in one
  const std::uint64_t without = std::min(first_without, growth(false));
  // A block may be 16 bytes larger than another of its size, if the rest would be no block. The free ones of which that
  // is so are taken first, so a later run is looked at, too.
  for (int i = 0; i < kRuns && without > 0 && least > without; ++i) least = std::min(least, growth(true));
  constexpr std::uint64_t kSmallestBlock = 32;  // a leak is not less
  return least >= without + kSmallestBlock ? least - without : 0;
}

/// How many things a text of LeakCheck::left() names: `descriptor 5 (file /tmp/x), 2 threads` are three.
inline std::uint64_t things_in(const std::string& left) {
  std::uint64_t things = 0;
  for (std::size_t at = 0; at < left.size();) {
    const std::uint64_t number = std::strtoull(left.c_str() + at, nullptr, 10);
    things += number > 0 ? number : 1;
    const std::size_t comma = left.find(", ", at);
    at = comma == std::string::npos ? left.size() : comma + 2;
  }
  return things;
}

/// Runs the body with the failure, and sets what came of it. `always`: what it leaves without one. `is_child`: it may
/// run more often, to find leaks of memory.
template <class Body>
void try_failure(Body& body, SweptFailure& failure, const SweepOptions& options, const std::string& always,
                 bool is_child) {
  if (options.prepare) options.prepare();
  const LeakCheck leaks;
  std::uint64_t hits = 0;
  bool is_well = false;
  std::string text;
  // If its heap cannot grow, malloc begins another one, and a few bytes between them are lost.
  const bool looks_at_heap = is_child && options.checks_leaks && failure.syscall != "brk";
  const std::uint64_t heap = looks_at_heap ? heap_bytes() : 0;
  {
    const Fault fault(failure.syscall, failure.error, nth(failure.nth));
    is_well = run_swept(body, text);
    hits = fault.hits();
  }
  const bool has_grown = looks_at_heap && heap_bytes() > heap;
  failure.detail = text;
  if (hits == 0) return;
  std::string left = options.checks_leaks ? leaks.left() : std::string();
  // A failed close() leaves its descriptor open, because the call was not made.
  if (things_in(left) <= things_in(always) + (failure.syscall == "close" ? 1 : 0)) left.clear();
  failure.outcome = is_well ? AfterFailure::survived : AfterFailure::reported;
  if (is_well && options.promise && !options.promise()) failure.outcome = AfterFailure::said_success;
  if (!left.empty()) {
    failure.outcome = AfterFailure::leaked;
    failure.detail = std::move(left);
  }
  if (options.invariant && !options.invariant()) failure.outcome = AfterFailure::broken;
  const bool is_good = failure.outcome == AfterFailure::survived || failure.outcome == AfterFailure::reported;
  if (!is_good || !has_grown) return;
  const std::uint64_t bytes = heap_leak(body, failure, options, text);
  if (bytes == 0) return;
  failure.outcome = AfterFailure::leaked;
  failure.detail = std::to_string(bytes) + (bytes == 1 ? " byte of the heap" : " bytes of the heap");
}

/// A child's report of a failure: the outcome as a letter, then the detail.
inline std::string text_of(const SweptFailure& failure) {
  return std::string(1, static_cast<char>('a' + static_cast<int>(failure.outcome))) + failure.detail;
}

inline std::string signal_text(int signal) {
  const char* const name = strsignal(signal);
  return "signal " + std::to_string(signal) + (name != nullptr ? std::string(" (") + name + ")" : std::string());
}

/// False if it cannot be tried in a child; `why` says why.
template <class Body>
bool try_in_child(Body& body, SweptFailure& failure, const SweepOptions& options, const std::string& always,
                  std::string& why) {
  const auto in_child = [&] {
    try_failure(body, failure, options, always, true);
    return text_of(failure);
  };
  ChildRun run = run_in_child(in_child, options.limit);
  why = std::move(run.why_none);
  if (!why.empty()) return false;
  if (run.is_timed_out) {
    failure.outcome = AfterFailure::hung;
  } else if (run.has_said && !run.said.empty()) {
    failure.outcome = static_cast<AfterFailure>(run.said.front() - 'a');
    failure.detail = run.said.substr(1);
  } else if (run.signal != 0) {
    failure.outcome = AfterFailure::crashed;
    failure.detail = signal_text(run.signal);
  } else {
    failure.outcome = AfterFailure::exited;
    failure.detail = "exit code " + std::to_string(run.code);
  }
  return true;
}

}  // namespace failure_detail

/// Runs `body` once, then once for each failure. `body` returns nothing, or false for an error; an exception is an
/// error, too; an assertion that it fails is a failure of the running test. `selector` as in syscost/cost.h; calls for
/// which the table has no error are left out, unless SweepOptions::errors has one. Only calls of the calling thread are
/// learned and failed. Needs backend dispatch, as Fault does.
template <class Body>
Sweep for_each_failure(std::string_view selector, Body&& body, const SweepOptions& options = {}) {
  Sweep sweep;
  std::string text;
  bool is_well = true;
  if (options.prepare) options.prepare();
  const LeakCheck leaks;
  const Cost cost = measure([&] { is_well = failure_detail::run_swept(body, text); });
  if (options.checks_leaks) sweep.left_always = leaks.left();
  const Count chosen = cost.calls(selector);
  if (!cost.available()) {
    sweep.why_none = cost.unavailable()->reason;
  } else if (!chosen.has_value()) {
    sweep.why_none = chosen.unavailable() != nullptr ? chosen.unavailable()->reason : "calls were lost";
  } else if (!is_well) {
    sweep.why_none = "the body fails by itself" + (text.empty() ? std::string() : ": " + text);
  }
  if (!sweep.why_none.empty()) return sweep;
  // A thing that the body opens once and keeps is not left by each run.
  if (!sweep.left_always.empty()) {
    if (options.prepare) options.prepare();
    const LeakCheck again;
    failure_detail::run_swept(body, text);
    sweep.left_always = again.left();
  }
  bool isolates = options.isolates;
  for (const SyscallCost& call : cost.syscalls()) {
    // A call is selected if the selector selects fewer without it.
    const std::string others = std::string(selector) + ",!" + call.name;
    if (cost.calls(others) == chosen) continue;
    for (const int error : failure_detail::swept_errors(call.name, options)) {
      for (std::uint64_t n = 1; n <= call.calls; ++n) {
        SweptFailure failure{call.name, error, n, AfterFailure::not_reached, {}};
        const bool is_isolated =
            isolates && failure_detail::try_in_child(body, failure, options, sweep.left_always, sweep.why_not_isolated);
        if (!is_isolated) failure_detail::try_failure(body, failure, options, sweep.left_always, false);
        isolates = is_isolated;
        sweep.failures.push_back(std::move(failure));
      }
    }
  }
  if (sweep.failures.empty()) sweep.why_none = "the body makes no call that the selector and the table of errors have";
  return sweep;
}

}  // namespace syscost
