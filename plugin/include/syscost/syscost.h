// SPDX-License-Identifier: MIT
//
// Measure the syscalls of a stretch of code, with or without a test framework.
//
//     #include <syscost/syscost.h>
//
//     syscost::Cost cost = syscost::measure([&] { log.flush(batch); });
//     if (cost.calls("write") > 1) std::cerr << cost << '\n';
//
// The first use opens a backend (some tens of milliseconds). Later ones cost two memory stores and a read of the
// counters; after the outermost window a few syscalls follow, which ask whether the backend was intact all the time.
// None of them is counted. Without a usable backend the Cost says why.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syscost/cost.h"
#include "syscost/export.h"

namespace syscost {

namespace adapter {
struct OfAdapter {};
}  // namespace adapter

namespace session {
struct ScopeRecord;  // src/session/windows/scope_records.h
}

/// Which threads' syscalls a window sees.
enum class Reach {
  thread,   ///< The calling thread's only.
  process,  ///< All threads of the process, also those born inside.
};

/// A window from construction to stop() or destruction.
///
/// Scopes nest: what an inner scope counts, the outer one counts too. With a name and a CSV (--syscost_csv) the scope
/// writes a row of kind `scope` of its own; in one test at most 10 000 do, the others are reported as missing. A thread
/// scope ends on the thread that began it. Not for signal handlers. In a fork child it is inert: stop() answers
/// "unavailable".
class SYSCOST_EXPORT Scope {
 public:
  /// Begins to count. `name` is copied; empty = no CSV row.
  explicit Scope(std::string_view name = {}, Reach reach = Reach::thread);
  explicit Scope(Reach reach) : Scope({}, reach) {}
  /// For adapters. Where a program itself uses one of the others, the library is loaded at its start.
  Scope(Reach reach, adapter::OfAdapter);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Ends the window (the first time) and says what it counted; a later call answers the same.
  Cost stop();

 private:
  session::ScopeRecord* record_ = nullptr;  // null once stopped, or when nothing can count
  Cost cost_;
};

/// The cost of `body()`. An exception passes through, and its numbers are gone with it.
template <class Body>
Cost measure(Body&& body, Reach reach = Reach::thread) {
  Scope scope(reach);
  std::forward<Body>(body)();
  return scope.stop();
}

/// The lines that made the calls of `cost` which `selector` selects, most calls first. Empty without --syscost_where,
/// in a fork child, and while a tool of --syscost_profile is attached, which would see the work. Calls without a known
/// stack are in no line. Reads debug information, so it can take long: for the message of a failure. Any thread; none
/// of its syscalls is counted.
SYSCOST_EXPORT std::vector<CallSite> call_sites(const Cost& cost, std::string_view selector = "*");

/// The things that a stretch of code leaves open: descriptors, threads and child processes that were not there when the
/// object was made. Mappings do not count, because allocators keep memory. Needs no backend; reads /proc, by syscalls
/// that are not counted. Other threads may open and close things meanwhile: what is open when left() is called counts.
/// Threads may have descriptors of their own (unshare): then one thread makes it and calls left().
class SYSCOST_EXPORT LeakCheck {
 public:
  LeakCheck();
  ~LeakCheck();
  LeakCheck(const LeakCheck&) = delete;
  LeakCheck& operator=(const LeakCheck&) = delete;

  /// `descriptor 5 (file /tmp/x), 1 thread, 2 child processes`; empty for nothing. `n/a (reason)` if it is not known.
  std::string left() const;

 private:
  std::shared_ptr<const void> before_;  // null = it could not be read
};

/// How often a test should repeat the call it is about: --cycles (--syscost_cycles, SYSCOST_CYCLES) or else `fallback`.
/// The running test's row carries the answer in column `iterations`, so that `bench` can show figures per call. The
/// last answer of a test counts. Makes no syscall once the session has started.
SYSCOST_EXPORT int cycles(int fallback);

}  // namespace syscost
