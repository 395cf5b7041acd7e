// SPDX-License-Identifier: MIT
//
// The functions of syscost/counting.h over the objects of this process. Each object is made at its first use and never
// destroyed, because exit handlers use it.
#include "syscost/counting.h"

#include <algorithm>

#include "os/message_output.h"
#include "session/backends/open_backend.h"
#include "session/process/messages.h"
#include "session/session.h"
#include "session/two_process/counting_process.h"
#include "session/two_process/pass_tracer.h"
#include "session/two_process/timing_session.h"

namespace syscost::adapter {
namespace {

session::TimingSession& timing() {
  static auto* const made = [] {
    const Result<session::ParsedOptions>& parsed = session::process_options();
    if (!parsed.ok()) session::refuse(parsed.failure());
    auto* its = new session::TimingSession(parsed.value().options);
    session::at_process_end([] { return timing().conclude(); });
    return its;
  }();
  return *made;
}

session::PassTracer& pass_tracer() {
  static auto* const made = new session::PassTracer(session::process_session());
  return *made;
}

}  // namespace

// ---- in either process ----------------------------------------------------------------------------------------------

void take_prefixed_options(int* argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + *argc);
  // Without such an argument there is nothing to take out. Or a main of ours has taken all of them, short forms too.
  const bool has_any = std::any_of(arguments.begin(), arguments.end(),
                                   [](const std::string& argument) { return argument.starts_with("--syscost"); });
  if (!has_any) return;
  const Result<session::ParsedOptions>& parsed = session::read_process_options(arguments, session::Spelling::prefixed);
  if (!parsed.ok()) session::refuse(parsed.failure());
  session::remove_arguments(argc, argv, parsed.value().used);
}

std::vector<std::string> started_with() {
  return session::process_arguments();
}

std::uint64_t wanted_cycles(std::uint64_t fallback) {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  return parsed.ok() ? parsed.value().options.cycles.value_or(fallback) : fallback;
}

SharedAdapterState& shared_adapter_state() {
  return session::main_watch().state();
}

bool wants_tools() {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  return parsed.ok() && parsed.value().options.wants_tools();
}

void refuse(const Unavailable& what) {
  session::refuse(what);
}

void say(std::string_view text) {
  do_unseen([&] { session::say(text); });
}

// ---- in the counting process ----------------------------------------------------------------------------------------

bool is_counting_process() {
  return session::counting_process().is_counting();
}

std::string counting_request() {
  return session::counting_process().request();
}

CountingStart start_counting(const Framework& framework) {
  leave_programs_alone();
  CountingStart start;
  const session::Session& session = session::started_session(framework);
  if (const session::OpenBackend* opened = session.backend().current()) {
    start.backend = opened->backend->name();
    start.note = session::describe_calibration(opened->backend->calibration());
  } else {
    start.why_not = *session.backend().why_not();
  }
  return start;
}

CountingStart start_tracing(const Framework& framework) {
  leave_programs_alone();
  CountingStart start;
  session::Session& session = session::started_session(framework);
  start.backend = session::backend_name(session);
  Result<void> started = session.part<session::Tracing>().open();
  if (!started.ok()) start.why_not = started.failure();
  return start;
}

bool attach_tools() {
  return pass_tracer().attach();
}

void arm_tools() noexcept {
  pass_tracer().arm();
}

void disarm_tools() noexcept {
  pass_tracer().disarm();
}

std::string detach_tools(std::string_view benchmark, const Cost* counted) {
  return pass_tracer().detach(benchmark, counted);
}

void send_line(std::string_view line) {
  session::counting_process().send_line(line);
}

void end_counting() {
  session::counting_process().end();
}

// ---- in the process that times --------------------------------------------------------------------------------------

CountingEnd run_counting_process(const std::string& request, const std::function<void(std::string_view)>& on_line,
                                 const std::function<void(int seconds)>& on_wait) {
  return session::ChildRun(request, timing().counting_variables_or_exit()).run(on_line, on_wait);
}

void start_timing_or_exit(const Framework& framework) {
  timing().start_or_exit(framework);
}

bool wants_counts() {
  if (!timing().wants_counts()) return false;
  // A process inherits the filter, and the kernel allows it no second one with a listener.
  const session::Session& tests = session::process_session();
  const session::OpenBackend* const opened = tests.is_started() ? tests.backend().current() : nullptr;
  if (opened == nullptr || opened->backend->name() != "seccomp") return true;
  timing().note_missing_counts(
      {"the benchmarks of this program have no counts, and their times hold the cost of counting: its tests ran before "
       "them under backend seccomp, whose filter stays in the process and in those that it starts",
       "run the tests and the benchmarks by two commands, or use backend ebpf or dispatch"});
  return false;
}

void set_counted_by_or_exit(const CountingStart& counted_by, const Framework& framework) {
  timing().set_counted_by_or_exit(counted_by, framework);
}

void write_rows(const std::vector<TimedRepetition>& repetitions) {
  timing().write_rows(repetitions);
}

void write_traced(const std::vector<TracedPass>& passes) {
  timing().write_traced(passes);
}

void begin_timing() {
  timing().begin_benchmarks();
}

void end_timing() {
  timing().end_benchmarks();
}

void note_missing_counts(const Unavailable& what) {
  timing().note_missing_counts(what);
}

void note_problem(const Unavailable& what) {
  timing().note_problem(what);
}

}  // namespace syscost::adapter
