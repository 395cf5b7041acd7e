// SPDX-License-Identifier: MIT
//
// Session: what a process measures, from its first window to its end.
//
// It starts what the options request, and holds what measures: windows, scopes, loops, and the parts of extras. All
// share a Measurement. A process has one session, which is made at its first use: process_session() gives it. Tests
// make others. When the process ends by itself, the session writes what still waits.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/loops/loops.h"
#include "session/options/options.h"
#include "session/part.h"
#include "session/windows/between_and_intervals.h"
#include "session/windows/measurement.h"
#include "session/windows/scopes.h"
#include "session/windows/windows.h"
#include "syscost/adapter.h"

namespace syscost::session {

class Session {
 public:
  Session(Options options, BackendOpener opener, const PartMaker& make = make_parts);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens what the options request; fails with the first part that is not possible. Prints the header line if anything
  /// was requested. A second call takes `selection` and `build_type` from the framework, and opens what new options
  /// request.
  Result<void> start(const adapter::Framework& framework);
  /// The same for a command that runs below this process (session/outside.h).
  /// `obstacle_inside`: why nothing can be preloaded into it; empty = it can.
  Result<void> start_outside(std::string_view program, std::string_view build_id, std::string_view obstacle_inside);
  /// Uses `options` from the next start() on: for a static initialiser that measured before main() read the flags.
  /// Fails if something is open already that does not match them.
  Result<void> take_over(Options options);
  bool is_started() const { return shared_.is_started.load(std::memory_order_acquire); }

  Windows& windows() { return windows_; }
  Intervals& intervals() { return intervals_; }
  Scopes& scopes() { return scopes_; }
  Loops& loops() { return loops_; }
  /// The part of this kind: session.part<Faults>().
  template <class Kind>
  Kind& part() {
    return static_cast<Kind&>(part_named(Kind::kPart));
  }
  template <class Function>
  void for_each_part(Function call) {
    for (const std::unique_ptr<Part>& one : parts_) std::invoke(call, *one);
  }

  /// The CSV says from now on that tests run, until finish_tests().
  void begin_tests(std::string_view only_test);
  void finish_tests(std::string_view outcome);
  /// Writes the rows that still wait.
  void finish() { finish_tests({}); }
  /// The same at the end of the process: rows that cannot be written are a problem of the run.
  void conclude();

  /// True if a backend is open.
  bool can_count() const { return shared_.backend.current() != nullptr; }
  const BackendHolder& backend() const { return shared_.backend; }
  WorkBetween work_between() const { return WorkBetween(shared_); }
  /// Null if no calls have origins.
  OriginNamer* origin_namer() { return shared_.origin_namer.get(); }
  bool is_fork_child() const { return shared_.is_fork_child(); }
  void note_problem(const Failure& failure) { shared_.recorder.note_problem(failure); }
  std::string problem() const { return shared_.recorder.problem(); }
  const Options& options() const { return shared_.options; }
  const std::string& run_id() const { return shared_.run.run_id; }
  const std::string& program() const { return shared_.run.program; }
  /// The test or suite with the open window; empty between them.
  std::string running_test() const { return shared_.window.has_value() ? shared_.window->test : std::string(); }
  bool prints_lines() const { return shared_.prints_lines(); }
  /// A stretch of the running test that its trace shows, by CLOCK_MONOTONIC. No effect without a trace.
  void add_to_trace(std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns) {
    if (shared_.options.trace.wanted) shared_.slices.add(name, start_ns, end_ns, nullptr);
  }

 private:
  std::string backend_note() const;
  void read_run(const adapter::Framework& framework, bool is_new);
  Part& part_named(std::string_view name) const;
  std::vector<WindowObserver*> observers() const;
  LoopTools* loop_tools() const;

  Measurement shared_;
  const Parts parts_;
  Windows windows_{shared_, observers()};
  Intervals intervals_{shared_};
  Scopes scopes_{shared_, [this] { return loops_.attach_for_scope(); }};
  Loops loops_{shared_, windows_, loop_tools()};
  bool has_new_options_ = false;  // since the last start()
};

/// The options of this process, read once: from the arguments of take_options(), else from /proc and the environment.
const Result<ParsedOptions>& process_options();
/// Uses `arguments` with `spelling` instead of the process's own. A session that exists already takes the options over.
const Result<ParsedOptions>& read_process_options(const std::vector<std::string>& arguments, Spelling spelling);

/// Null until make_process_session() made it.
extern std::atomic<Session*> made_process_session;
Session& make_process_session();

/// The process's session, made at the first call and never destroyed.
inline Session& process_session() {
  Session* const made = made_process_session.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_process_session();
}
/// The same, started: by the adapter, or here at the first use without an adapter. If a request is not possible:
/// message, exit(2). Also runs --syscost_help and --syscost_doctor.
Session& started_session(const adapter::Framework& framework = {});

/// Calls `finish` when the process ends by itself: when main() returns, or by exit() or quick_exit(). It returns true
/// if the run is whole. If it returns false, a process that would end with exit code 0 ends with 1.
void at_process_end(bool (*finish)());

}  // namespace syscost::session
