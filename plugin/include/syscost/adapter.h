// SPDX-License-Identifier: MIT
//
// The functions that a test framework's adapter calls. GoogleTest's adapter is plugin/src/adapters/gtest. An adapter
// for another framework needs only this header.
//
// One session exists per process. An adapter starts it once, before the first test, opens and closes windows around
// what the framework runs, and finishes it. All calls come from one thread, and none is made inside a window
// except the ones that open and close nested windows. In a fork child every call is inert.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/cost.h"
#include "syscost/export.h"

namespace syscost::adapter {

/// The facts that the framework tells the session.
struct Framework {
  std::string_view name;  ///< For messages: "GoogleTest".
  /// How much of the program's tests this run holds: "whole", "subset" or "isolated" (exactly one test).
  std::string_view selection = "whole";
  /// How the test program was compiled: "optimised" or "unoptimised", and sanitizers; column `build_type`.
  std::string_view build_type = {};
};

/// How the code that calls this was compiled, for Framework::build_type: an adapter is compiled in the user's build, or
/// beside it.
inline std::string build_type() {
#ifdef __OPTIMIZE__
  std::string type = "optimised";
#else
  std::string type = "unoptimised";
#endif
#ifdef __has_feature  // Clang's
#if __has_feature(address_sanitizer)
  type += " asan";
#endif
#if __has_feature(thread_sanitizer)
  type += " tsan";
#endif
#else  // GCC's
#ifdef __SANITIZE_ADDRESS__
  type += " asan";
#endif
#ifdef __SANITIZE_THREAD__
  type += " tsan";
#endif
#endif
  return type;
}

/// Takes our command-line options out of argv: `--syscost_*` and the short forms (--csv, --profile, ...). An adapter's
/// own main calls it before the framework sees argv. The values are kept, and override the environment. On a bad option
/// it prints a message on stderr and returns false; the caller exits with 2. An option is bad, too, if a static
/// initialiser measured already, and with another file, backend or filter than the options name.
SYSCOST_EXPORT bool take_options(int* argc, char** argv);

/// True when a flag or a variable requests anything: csv, profile, ... If take_options() was not called, reads the
/// command line as it was before main(). When false, the adapter must print nothing and cost nothing.
SYSCOST_EXPORT bool requested();

/// Ends the program with exit code 2, before any test and before start_or_exit(), if the requested CSV is also `file`:
/// `framework` ("GoogleTest") will write a report there, and each would overwrite the other. `file` is relative to the
/// working directory; empty = there is none.
SYSCOST_EXPORT void check_report_or_exit(std::string_view framework, std::string_view file);

/// Opens the requested backend and CSV. Prints the header line. If it cannot open one of them, it prints cause and fix,
/// then calls exit(2) without running a test. Handles --syscost_help and --syscost_doctor (print, exit). May be called
/// again when the framework starts over.
SYSCOST_EXPORT void start_or_exit(const Framework& framework);

/// Before the framework does anything for its first test. From now on the CSV says that this program has tests to run,
/// so a reader sees if it ends before finish_tests(): by a signal, by exit() or _exit() in a test, or by an exec.
/// `only_test` is the name of the test, if it is one and known; else empty. No effect until finish_tests() if it was
/// called before.
SYSCOST_EXPORT void begin_tests(std::string_view only_test);

/// The kind of thing that a window is opened for; column `kind`.
enum class Kind { test, suite, environment };

struct WindowName {
  Kind kind = Kind::test;
  std::string_view test;    ///< Full name, e.g. "Suite.Test"; the suite's name for suites; empty for environments.
  std::string_view window;  ///< "" for the test itself; "set-up" or "tear-down".
  int repetition = 0;       ///< From 0.
};

/// Opens the process-wide window; the last thing it does is one store that arms counting. At most one is open at a
/// time; opening another closes nothing and is a programming error.
SYSCOST_EXPORT void open_window(const WindowName& name);

/// The measurements of a window.
struct Report {
  Cost cost;
  std::uint64_t wall_ns = 0;
  /// The text for people under a test: `1024 write, 131 us in the kernel, 94 % of wall`.
  std::string line;
  /// The selector of what was counted: --syscost_filter, or everything. cost.calls(counted) is the total.
  std::string counted = "*";
  /// A line for each loop inside: `loop flush: 1 write a call, 152 ns a call ...`.
  std::vector<std::string> loops = {};
  /// The lines of tools beside us (--syscost_profile bpftrace) about the window.
  std::vector<std::string> tools = {};
};

/// Disarms (first thing), reads, and writes the window's rows. `outcome` is "passed", "failed", "skipped", or "" where
/// it has no meaning. `framework_writes` says how many lines the framework itself printed and flushed to stdout inside
/// the window; they are taken out of the counts where that can be done exactly, which is when the window has no other
/// write. A window without a syscall writes no row, unless its kind is `test`.
SYSCOST_EXPORT Report close_window(std::string_view outcome, int framework_writes = 0);

/// As close_window(), for a test that may still fail when others hear of its end: GoogleTest's listeners may fail it in
/// OnTestEnd. Its rows wait for settle_outcome(), or for the end of the process.
SYSCOST_EXPORT Report close_unsettled(std::string_view outcome_so_far, int framework_writes = 0);
/// Writes them with this outcome. No effect if none wait.
SYSCOST_EXPORT void settle_outcome(std::string_view outcome);

/// For an adapter with a TestReporter: before it asks for the outcome of a test whose window is open. Reports what the
/// run forbids (--syscost_forbid) and the test did all the same. close_window() does it otherwise.
SYSCOST_EXPORT void conclude_test();

/// Between these two the open window is not charged, and its times stand still: what the process does then is counted
/// as what it does between windows. For a framework that runs the body of a test several times, and works in between.
/// In pairs, on the window's thread.
SYSCOST_EXPORT void pause_window();
SYSCOST_EXPORT void resume_window();

/// Runs `work` of the adapter on this thread, while no window is open: what the process does then is counted, too
/// (kind `between`), and this is not. Functions of this file need no such care.
SYSCOST_EXPORT void do_unseen(const std::function<void()>& work);

/// True when --syscost_profile asks for lines under each test.
SYSCOST_EXPORT bool prints_lines();

/// The problems since the start that must make the run end non-zero (a full disk, a backend that a test closed); empty
/// when all is well. Each was already printed when it happened.
SYSCOST_EXPORT std::string problem();

/// The environment variable `name`; null where it is not set and, in a program with more rights than its caller
/// (setcap, setuid), where it could lead to those rights (docs/security.md).
SYSCOST_EXPORT const char* variable(const char* name);

/// Call it after the framework's last test: writes the rows that still wait. The backend stays, because main() or a
/// static destructor may go on measuring; it ends with the process.
SYSCOST_EXPORT void finish();

/// finish() for an adapter that called begin_tests(): the tests came to their end. `outcome` is "passed" or "failed" as
/// the framework judges them all, with what failed outside of tests; empty where it is not known.
SYSCOST_EXPORT void finish_tests(std::string_view outcome);

/// The adapter makes the program end with another exit code, though its tests passed, because of problem(): `bench run`
/// learns that the code is not the program's own.
SYSCOST_EXPORT void note_verdict();

/// For the end of a program that never started its framework. Says that it has no rows, if its own command line asked
/// for a CSV, or if ctest started it with one. Silent otherwise: the program inherited the variable, for example from a
/// test that started it.
SYSCOST_EXPORT void say_if_nothing_ran();

/// True in a fork child of the process that measures. No syscall.
SYSCOST_EXPORT bool is_fork_child();

/// Called when an assertion wants a number that no backend can give. Returns true when the adapter skipped the running
/// test (comparison then holds), false to let the comparison fail. Null = fail. May be set before the session starts.
using UnavailableHandler = bool (*)(const Unavailable& why);
SYSCOST_EXPORT void set_unavailable_handler(UnavailableHandler handler);

/// A line of the program.
struct SourceLine {
  const char* file = nullptr;  ///< Null = unknown.
  int line = 0;

  /// `save_test.cc:17: `; empty if it is unknown.
  std::string before() const { return file != nullptr ? std::string(file) + ":" + std::to_string(line) + ": " : ""; }
};

/// How what the library finds reaches the running test. Both may be called on any thread. `at` is the line that asked,
/// such as that of a Forbid; if it is unknown, the adapter names the line of the test.
struct TestReporter {
  /// A failure of the running test; it goes on. False if no test can be reached, and the message is not shown.
  bool (*fail)(std::string_view message, const SourceLine& at);
  /// The test cannot go on, because something that it needs is missing: it is skipped or fails (skips_unavailable()),
  /// and ends here if the framework can end it.
  void (*end)(const Unavailable& why, const SourceLine& at);
  /// True if the running test has failed so far; null = it cannot be asked.
  bool (*has_failed)();
};
/// Null = no framework: the text goes to stderr. `reporter` must stay.
SYSCOST_EXPORT void set_test_reporter(const TestReporter* reporter);
/// Calls the reporter. For the library itself.
void fail_test(std::string_view message, const SourceLine& at = {});
/// The same, if there is a reporter and a test; else nothing, and false.
bool fail_test_if_any(std::string_view message, const SourceLine& at = {});
/// Empty if it cannot be asked; false without a framework.
std::optional<bool> test_has_failed();
void end_test(const Unavailable& why, const SourceLine& at);

/// The program uses syscost::Fault or Forbid: `auto` takes a backend by which calls can fail. Before the first window.
SYSCOST_EXPORT void expect_faults();

/// For an adapter whose program uses them and requests nothing, before the framework runs code of the user's: opens the
/// backend if it is one that does not see threads which are older than itself. A pool that SetUpTestSuite() starts
/// meets faults all the same. Prints nothing; if no backend can be opened, the first fault says why.
SYSCOST_EXPORT void open_for_faults();

/// Runs `work` of the framework on this thread: its calls meet no fault, and are not forbidden.
SYSCOST_EXPORT void without_faults(const std::function<void()>& work);

/// The decision for an UnavailableHandler: true = skip the test, false = let it fail. If a backend counts and could
/// have the number, the test must fail: the number is missing by a mistake in the test, such as a selector that names
/// nothing. Otherwise SYSCOST_UNAVAILABLE=skip|fail decides. Without that variable, tests fail where the variable CI is
/// set and are skipped elsewhere.
SYSCOST_EXPORT bool skips_unavailable(const Unavailable& why);

}  // namespace syscost::adapter
