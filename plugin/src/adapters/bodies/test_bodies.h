// SPDX-License-Identifier: MIT
//
// Windows around the bodies of tests, for frameworks that run a test's body several times: once for each of its
// sections or generated values. The window is charged while a body runs; what the framework does in between is not the
// test's. And the hooks by which Catch2 and doctest tell of their tests.
//
// Two callers: the adapters of programs that are linked with syscost (hook_if_asked()), and the agent of programs that
// are not.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "adapters/names/equal_names.h"
#include "agent/find/classes.h"
#include "libc/clock_and_mutex.h"
#include "syscost/cost.h"

namespace syscost::bodies_adapter {

/// One thread, but for fail(). In a fork child every call is inert, but for those about failures.
class TestBodies {
 public:
  /// Before main(), where the session shall measure. `build_type`: of adapter::build_type(), empty where it is not
  /// known.
  void prepare(std::string build_type);

  /// Starts the session; where nothing is measured, it only opens a backend for faults. `framework`: its name, for
  /// messages.
  void run_start(const char* framework);
  /// A test of which no body was seen has no row: then the run says so, and does not end with 0.
  void run_end();

  /// The names of all tests of the program, if the framework shows them: before the first test starts.
  names::EqualNames& names() { return names_; }
  /// `name` is the framework's, and may be that of several tests.
  void test_start(const std::string& name, const names::TestPlace& place);
  /// `can_fail`: what it throws fails the test.
  void body_start(bool can_fail);
  void body_end();
  /// `outcome`: "passed", "failed", "skipped", or empty where it is not known. If a body crashes, the framework ends
  /// the test from its handler of the signal, inside the body.
  void test_end(const char* outcome);

  /// Before main(), where the framework takes an exception of the body for a failure: forbidden calls become one.
  void fail_by_exceptions();
  /// The running test fails with this message when its body ends. False if no body runs, or if it ends by an exception
  /// of its own. Any thread.
  bool fail(std::string_view message);
  /// Throws what fail() was told.
  void throw_failure();

 private:
  void resume();

  std::string build_type_;
  names::EqualNames names_;
  std::string test_;
  std::map<std::string, int> repetitions_;  ///< How often each test ran.
  int tests_without_body_ = 0;
  bool is_asked_ = false;
  bool is_started_ = false;
  bool is_window_open_ = false;
  bool is_paused_ = false;  ///< The window is open, and no body runs.
  libc::Mutex failure_lock_;
  bool can_fail_ = false;  ///< A body runs that can.
  std::string failure_;    ///< Thrown when the body ends.
};

/// This process's object. It is never destroyed.
TestBodies& test_bodies();

/// Calls `body` as the body of the running test, also where it throws. `can_fail`: as of body_start().
template <class Body>
void run_body(Body body, bool can_fail = true) {
  struct Ending {
    ~Ending() { test_bodies().body_end(); }
  };
  test_bodies().body_start(can_fail);
  {
    const Ending ending;
    body();  // NOLINT(clang-analyzer-core.CallAndMessage): it was found before main()
  }
  test_bodies().throw_failure();
}

// Linking alone is enough for frameworks that are found in the program itself: their classes are searched before
// main(), and only where something is asked of syscost. So these adapters include no header of the framework, and work
// with each of its versions, also where the program compiles it from one header of its own.

/// Calls `hook` before main(), if something is asked or the program uses faults. If something is asked and nothing is
/// found, ends the program with 2 and `why_not`.
void hook_if_asked(bool (*hook)(const agent::Modules& modules), const Unavailable& why_not);

}  // namespace syscost::bodies_adapter

namespace syscost::catch2_adapter {

/// Looks for Catch2 in `modules` and puts functions of ours where it calls its own; true where it was found. Before
/// main(), one thread.
bool hook(const agent::Modules& modules);

}  // namespace syscost::catch2_adapter

namespace syscost::doctest_adapter {

/// Looks for doctest in `modules` and puts functions of ours where it calls its own; true where it was found. Before
/// main(), one thread.
bool hook(const agent::Modules& modules);

}  // namespace syscost::doctest_adapter
