// SPDX-License-Identifier: MIT
//
// Session: what one process measures, from its first window to its end.
//
// It brings the parts together: options, instrument, CSV. The order inside open_window() and close_window() is the
// point: everything of ours that enters the kernel happens before the window is armed or after it is disarmed, so that
// an empty test has 0 calls.
//
// Scopes (session_scopes.cc) may open and close on any thread inside a window; they neither malloc nor enter the
// kernel, and their rows wait in quiet memory until no window is open.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "os/child_guard.h"
#include "session/options/options.h"
#include "session/tools/profiler_session.h"
#include "session/windows/backend_holder.h"
#include "session/windows/recorder.h"
#include "session/windows/scopes.h"
#include "session/windows/usage.h"
#include "session/windows/writing_lock.h"
#include "syscost/adapter.h"
#include "syscost/syscost.h"

namespace syscost::session {

/// The window an adapter has open. (Not nested: Clang refuses std::optional of a nested class with initialisers.)
struct OpenWindow {
  adapter::Kind kind{};
  std::string test;
  std::string name;
  int repetition = 0;
  std::thread::id owner = std::this_thread::get_id();
  Usage usage_before;
  std::uint64_t start_ns = 0;
  // Of the loops inside, which are not the window's.
  std::string excluded;  // "excludes loop flush"
  std::vector<std::string> loop_lines;
  std::uint64_t loop_start_ns = 0;
  Usage loop_usage;
  OpenBackend* opened = nullptr;
  WindowBook::Window* handle = nullptr;
  std::uint64_t hidden_losses_before = 0;  ///< Those of `opened` that were known when the window opened.
  // Of tools beside us.
  bool is_traced = false;      ///< One is, or was, attached: the window has no times.
  bool is_trace_whole = true;  ///< It was attached in all stretches.
  Findings findings;           ///< Of the stretches so far.
  std::string folder;          ///< For what they found; empty until it is needed.
};

class Session {
 public:
  Session(Options options, BackendOpener opener, ToolOpener tools = open_tools);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens what the options ask for; fails with what cannot be had. Prints the header line if anything was asked for.
  /// A second call takes the framework's word for `selection` and `build_type`, and does what new options ask for.
  Result<void> start(const adapter::Framework& framework);
  /// Uses `options` from the next start() on: a static initialiser measured before main() read the flags. Fails when
  /// what was opened already is not what they ask for.
  Result<void> take_over(Options options);
  bool is_started() const { return is_started_.load(std::memory_order_acquire); }

  void open_window(const adapter::WindowName& name);
  adapter::Report close_window(std::string_view outcome, int framework_writes);
  /// The process ends with the window open: its row has what was counted so far, and no outcome.
  void end_window_at_exit();

  /// Writes the rows that still wait.
  void finish();
  /// The same at the end of the process: what cannot be written is a problem of the run.
  void conclude();

  /// Opens a scope and returns it; null when it cannot count, with the reason in `cost`. Any thread.
  ScopeRecord* open_scope(std::string_view name, Reach reach, Cost& cost);
  Cost close_scope(ScopeRecord* scope);

  // For LoopRun (loop_run.h); all on the loop's thread.

  /// Stops charging the running test. False, with a message, when a loop runs already.
  bool enter_loop(std::string_view name);
  /// Writes the loop's rows, keeps `lines` for people, and goes on charging the test.
  void leave_loop(std::string_view name, const std::vector<std::string>& lines);
  /// The same for what is neither the test's nor a loop: false, without a message, when a loop runs already.
  bool set_test_aside();
  /// Goes on charging the test, whose row says that `name` is not in it.
  void take_test_back(std::string_view name);
  /// Null when nothing can count.
  OpenBackend* loop_backend() const { return backend_.current(); }
  /// For timed passes. Fails while a scope is open: it would miss calls.
  Result<void> detach_backend(OpenBackend& opened);
  /// False, with a message, when it cannot be attached again.
  bool attach_backend(OpenBackend& opened);
  WindowBook::Window* open_loop_window(OpenBackend& opened);
  /// Null when the counts are void.
  std::shared_ptr<detail::CostData> close_loop_window(OpenBackend& opened, WindowBook::Window* window);
  /// The first of `count` repetitions of the running test's loop `name`: those of earlier runs of it, in this test or
  /// in an earlier iteration of --gtest_repeat, have the numbers before.
  std::uint64_t take_loop_repetitions(std::string_view name, std::size_t count);
  void note_problem(const Failure& failure) { recorder_.note_problem(failure); }
  void add_loop_row(csv::WindowColumns columns, const detail::CostData* cost, const Capabilities& can);

  // Tools beside us (session_tools.cc).

  /// Opens what the options ask for, if that has not been done.
  Result<void> start_tools();
  bool has_tools() const { return tracer_.is_on(); }
  /// Says so when tools were asked for and there was nothing that they look at.
  void report_unused_tools() const;
  /// One more pass of a loop, for the tools. `window` stays null where nothing can count. False, with a message, when
  /// the tools cannot be attached. The last thing it does is to arm them.
  bool open_traced_pass(std::string_view loop, OpenBackend* opened, WindowBook::Window*& window);
  /// Disarms (first thing), and stops the tools. Null when nothing counted.
  std::shared_ptr<detail::CostData> close_traced_pass(OpenBackend* opened, WindowBook::Window* window,
                                                      Findings& findings);
  /// Files and rows of a loop's traced pass; returns the lines for people.
  std::vector<std::string> add_loop_trace(csv::WindowColumns columns, Findings findings,
                                          const detail::CostData* counted);
  ProfilerSession& tracer() { return tracer_; }

  /// The answer of syscost::cycles(), which becomes column `iterations` of the running test.
  int cycles(int fallback);

  /// True when a backend is open.
  bool can_count() const { return backend_.current() != nullptr; }
  const BackendHolder& backend() const { return backend_; }
  bool is_fork_child() const { return guard_.is_child(); }
  std::string problem() const { return recorder_.problem(); }
  const Options& options() const { return options_; }
  const std::string& run_id() const { return run_.run_id; }
  const std::string& program() const { return run_.program; }
  /// The test or suite whose window is open; empty between them.
  std::string running_test() const { return window_.has_value() ? window_->test : std::string(); }
  bool prints_lines() const { return options_.profile_syscalls || options_.wants_tools(); }

 private:
  std::string backend_note() const;
  void suspend_test();
  void resume_test(std::string_view excluded);
  void read_run(const adapter::Framework& framework, bool is_new);
  void mark(const char* what, const OpenWindow& window) const;
  std::shared_ptr<detail::CostData> read_and_check(OpenWindow& window, std::shared_ptr<const Unavailable>& why_not);
  bool is_idle() const;
  /// True for one caller of those that would close the open window: its own thread, and the one that called exit().
  bool claim_window();
  adapter::Report close_claimed_window(std::string_view outcome, int framework_writes);
  void explain_survivor() const;
  /// In a program without tests, --syscost_profile prints a line for each named scope.
  bool prints_scopes() const { return prints_lines() && !has_framework_; }
  std::unique_lock<WritingLock> wait_for_rows(const ScopeRecord* scope);
  void write_rows(std::string_view window);
  void add_scope_row(const ScopeRow& row);
  bool begin_trace();
  bool end_trace(Findings& findings);
  void suspend_trace(OpenWindow& window);
  void resume_trace(OpenWindow& window);
  void trace_rows(const csv::WindowColumns& columns, const TracedWindow& traced);
  void time_rows(const csv::WindowColumns& columns, const TracedWindow& traced);
  std::vector<std::string> conclude_trace(OpenWindow& window, const csv::WindowColumns& columns,
                                          const detail::CostData* counted, int framework_writes);
  Result<std::string> folder_of(OpenWindow& window);

  Options options_;
  ChildGuard guard_;
  BackendHolder backend_;
  Recorder recorder_;
  ProfilerSession tracer_;
  std::atomic<std::uint64_t> tracing_{0};  // grows when tools come and go; odd while they are attached
  Scopes scopes_;
  csv::RunColumns run_;
  std::atomic<bool> is_started_{false};
  bool has_framework_ = false;
  bool has_new_options_ = false;  // since the last start()
  std::optional<OpenWindow> window_;
  std::atomic<bool> has_window_{false};
  std::atomic<bool> is_closing_{false};  // the open window; never reset before the next one opens
  std::atomic<bool> in_loop_{false};
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> loop_repetitions_;  // test, window, loop
  std::atomic<bool> is_taken_off_{false};  // for a loop's timed passes: a scope would see nothing
  std::atomic<int> cycles_{0};             // last answer inside the open window; 0 = none
  WritingLock writing_;                    // held while rows go to the file; windows that would see that wait for it
};

}  // namespace syscost::session
