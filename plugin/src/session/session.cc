// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "core/call_stack.h"
#include "os/environment.h"
#include "os/errors.h"
#include "os/message_output.h"
#include "session/backends/doctor.h"
#include "session/backends/open_backend.h"
#include "session/extras/command_options.h"
#include "session/loops/loop_run.h"
#include "session/options/option_table.h"
#include "session/process/messages.h"
#include "session/run/run_info.h"
#include "session/windows/backend_holder.h"
#include "session/windows/scopes.h"
#include "syscost/counting.h"

namespace syscost::session {

Session::Session(Options options, BackendOpener opener, ToolOpener tools)
    : shared_(std::move(options), std::move(opener)), tools_(shared_, std::move(tools)) {
  // Made now, so that scopes do not make them inside windows.
  unavailable_cost::pending();
  unavailable_cost::fork_child();
  unavailable_cost::timed_pass();
}

void Session::read_run(const adapter::Framework& framework, bool is_new) {
  if (is_new) shared_.run = read_run_info(shared_.options, framework.build_type);
  if (shared_.options.build_type.empty()) shared_.run.build_type = framework.build_type;
  shared_.run.selection = framework.selection;
  shared_.run.shard = shard_of(framework.name, process_arguments());
  if (shared_.options.filter != nullptr) shared_.run.filter = shared_.options.filter->text();
  shared_.run.backend = shared_.backend.current() != nullptr ? shared_.backend.current()->backend->name() : "none";
  shared_.recorder.set_run(shared_.run);
  shared_.recorder.set_prints_scopes(shared_.prints_scopes());
}

/// The text after the backend's name: how it counts, and which tools trace.
std::string Session::backend_note() const {
  const std::string tools = tools_.is_on() ? ", traced by " + tools_.profilers().text() : "";
  OpenBackend* opened = shared_.backend.current();
  if (opened == nullptr) return " (counts stay empty)" + tools;
  std::string note = describe_calibration(opened->backend->calibration());
  if (!note.empty()) note = " (" + note + ")";
  if (const std::string passed = failures_of_earlier_backends(); !passed.empty()) note += ", not " + passed;
  return note + tools;
}

Result<void> Session::start(const adapter::Framework& framework) {
  const bool is_new = !is_started() || has_new_options_;
  if (!is_started()) {
    Result<void> opened = shared_.backend.open();
    if (!opened.ok() && shared_.options.requests_anything()) return opened;
  } else if (is_new && !can_count() && shared_.options.backend != BackendChoice::none &&
             shared_.options.requests_anything()) {
    return Failure{shared_.backend.why_not()->reason, shared_.backend.why_not()->how_to_fix};
  }
  if (shared_.options.where.wanted) shared_.recorder.set_call_sites(&shared_.call_sites());
  shared_.has_framework = shared_.has_framework || !framework.name.empty();
  read_run(framework, is_new);
  if (!is_new) return {};
  shared_.recorder.set_loss_rule(!shared_.options.requests_anything() ? LossRule::ignored
                                 : shared_.options.allow_lost         ? LossRule::accepted
                                                                      : LossRule::refused);
  // A counting process starts its tools in start_tracing(), if it makes passes for them.
  if (!shared_.options.is_counting_process) {
    if (Result<void> tools = tools_.start(); !tools.ok()) return tools;
  }
  if (Result<void> traces = traces_.start(); !traces.ok()) return traces;
  if (shared_.options.writes_stacks()) shared_.recorder.set_stack_files(traces_);
  if (!shared_.options.csv.empty() && !shared_.recorder.has_csv()) {
    Result<std::string> path = resolve_path(shared_.options.csv, shared_.options.csv_source);
    if (!path.ok()) return path.failure();
    Result<void> csv = shared_.recorder.open_csv(path.value(), lifetime_of_csv(path.value()));
    if (!csv.ok()) return csv;
  }
  if (shared_.options.requests_anything()) {
    say(header_line(shared_.run, backend_note(), shared_.recorder.csv_path()));
    const OpenBackend* opened = shared_.backend.current();
    if (const std::string remark = opened != nullptr ? opened->backend->remark() : std::string(); !remark.empty()) {
      say(remark);
    }
  }
  has_new_options_ = false;
  shared_.is_started.store(true, std::memory_order_release);
  return {};
}

Result<void> Session::start_outside(std::string_view program, std::string_view build_id,
                                    std::string_view obstacle_inside) {
  if (Result<void> possible = prepare_for_command(shared_.options); !possible.ok()) return possible;
  shared_.options.obstacle_inside_command = obstacle_inside;
  Result<void> started = start({"bench run"});
  if (!started.ok()) return started;
  csv::RunColumns run = shared_.run;
  run.program = program;
  run.build_id = build_id;
  shared_.recorder.set_run(run);
  return {};
}

Result<void> Session::take_over(Options options) {
  const auto text = [](const Options& from) { return from.filter != nullptr ? from.filter->text() : std::string(); };
  const bool is_same_filter = text(options) == text(shared_.options);
  if (is_same_filter) options.filter = shared_.options.filter;
  if (options == shared_.options) return {};
  const bool is_same_way = options.backend == shared_.options.backend && options.details == shared_.options.details &&
                           options.counts_as(shared_.options);
  if ((is_started() && !(is_same_filter && is_same_way)) ||
      (shared_.recorder.has_csv() && options.csv != shared_.options.csv) || tools_.is_on()) {
    return Failure{
        "a static initialiser measured before main(), and the flags name another file, backend, filter, detail or "
        "where",
        "write --syscost_csv, --syscost_backend, --syscost_filter, --syscost_detail, --syscost_where, "
        "--syscost_profile: syscost reads these before main()"};
  }
  shared_.options = std::move(options);
  has_new_options_ = true;
  return {};
}

void Session::say_calls_without_line() const {
  const OpenBackend* opened = shared_.backend.current();
  const StackSource* stacks = opened != nullptr ? opened->backend->extension<StackSource>() : nullptr;
  const std::uint64_t calls = stacks != nullptr ? stacks->calls_beyond_limits() : 0;
  if (calls == 0) return;
  say_failure({std::to_string(calls) + (calls == 1 ? " call was" : " calls were") +
                   " counted without a line (--syscost_where): the program has more different call stacks than syscost "
                   "has room for",
               "measure fewer tests in one process (--gtest_filter)"});
}

void Session::begin_tests(std::string_view only_test) {
  if (!is_fork_child() && is_started()) shared_.recorder.begin_tests(only_test);
}

void Session::finish_tests(std::string_view outcome) {
  if (is_fork_child() || !is_started()) return;
  faults_.say_what_was_hit();
  shared_.recorder.finish(outcome);
}

void Session::conclude() {
  if (is_fork_child() || !is_started()) return;
  traces_.conclude_process();
  say_calls_without_line();
  shared_.recorder.conclude();
}

// The process's own session: its options, its start, and the ways out of it.

std::atomic<Session*> made_process_session{nullptr};

namespace {

std::mutex start_mutex;
std::optional<Result<ParsedOptions>> parsed_options;

/// Writes the rows that still wait, and those of an open window or loop; false if the run is not whole.
bool end_process() {
  Session& session = process_session();
  if (session.is_fork_child()) return true;
  const WorkBetween between = session.work_between();
  const OwnWork work(session.backend().current());
  LoopRun::end_process(session.loops());
  session.windows().end_at_exit();
  session.conclude();
  // A counting process makes its passes for tools by itself.
  if (!adapter::is_counting_process()) session.tools().report_unused();
  // If the user requested nothing, a problem is data in a Cost, and the exit code is the program's own.
  return !session.options().requests_anything() || session.problem().empty();
}

void end_process_once() {
  static const bool is_registered = [] {
    at_process_end(end_process);
    return true;
  }();
  static_cast<void>(is_registered);
}

/// For a main that measures, forks and runs its tests in the child.
void explain_fork_child() {
  static std::atomic<bool> is_explained{false};
  if (is_explained.exchange(true)) return;
  say_failure({"these tests run in a fork child of the process that began to measure, so they are not measured",
               "begin to measure in the process that runs the tests"});
}

/// True also if the caller names no file: syscost reads the commit, for example, from the caller's working directory.
bool opens_files(const Options& options) {
  return (options.requests_anything() || options.is_counting_process) && !options.help;
}

}  // namespace

const Result<ParsedOptions>& read_process_options(const std::vector<std::string>& arguments, Spelling spelling) {
  parsed_options = parse_options(arguments, process_environment(), spelling);
  if (parsed_options->ok()) {
    Options& options = parsed_options->value().options;
    if (adapter::is_counting_process()) {
      options.become_counting_process();
      take_counting_variables(options);
    }
    if (is_listing_or_death_test(process_arguments())) options.drop_output();
    std::optional<Failure> rights = opens_files(options) ? reason_to_leave_files_alone(file_rights()) : std::nullopt;
    if (rights.has_value()) parsed_options = *std::move(rights);
  }
  if (Session* session = made_process_session.load(); session != nullptr && parsed_options->ok()) {
    Result<void> taken = session->take_over(parsed_options->value().options);
    if (!taken.ok()) parsed_options = taken.failure();
  }
  return *parsed_options;
}

const Result<ParsedOptions>& process_options() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!parsed_options.has_value()) read_process_options(process_arguments(), Spelling::prefixed);
  });
  return *parsed_options;
}

Session& make_process_session() {
  // Never destroyed: static destructors may still measure.
  static auto* const session = [] {
    const Result<ParsedOptions>& parsed = process_options();
    if (!parsed.ok()) refuse(parsed.failure());
    auto* made = new Session(parsed.value().options, open_backend);
    made_process_session.store(made);
    return made;
  }();
  return *session;
}

namespace {

/// A framework would take the exception for a failure of a listener, and of the tests.
Result<void> started_or_no_memory(Session& session, const adapter::Framework& framework) {
  try {
    return session.start(framework);
  } catch (const std::bad_alloc&) {
    return Failure{"the limits of this process (ulimit -v, ulimit -d) leave no memory to begin with",
                   "raise them by 64 MiB, or run this program without syscost"};
  }
}

}  // namespace

Session& started_session(const adapter::Framework& framework) {
  Session& session = process_session();
  if (session.is_fork_child() && !framework.name.empty() && session.options().requests_anything()) explain_fork_child();
  if (session.is_fork_child() || (session.is_started() && framework.name.empty())) return session;
  std::lock_guard guard(start_mutex);
  if (session.options().help) {
    print_help();
    std::exit(0);
  }
  if (session.options().doctor) std::exit(run_doctor());
  if (session.options().lists_scripts) std::exit(list_scripts(session.options()));
  if (const Result<void> started = started_or_no_memory(session, framework); !started.ok()) refuse(started.failure());
  end_process_once();
  return session;
}

namespace {

using Finish = bool (*)();

/// For quick_exit(), because its handlers get no argument: the functions of the session and of the timing session.
std::array<std::atomic<Finish>, 4> g_finish{};
std::atomic<std::size_t> g_count{0};

void end_quickly() {
  bool is_whole = true;
  for (const std::atomic<Finish>& finish : g_finish) {
    if (Finish call = finish.load(); call != nullptr) is_whole = call() && is_whole;
  }
  // The handler does not learn the exit code that the program chose.
  if (is_whole) return;
  note_verdict();
#ifdef __GLIBC__
  std::quick_exit(1);  // goes on with the handlers that are left
#else
  _exit(1);
#endif
}

}  // namespace

void at_process_end(bool (*finish)()) {
  const std::size_t index = g_count.fetch_add(1);
  SYSCOST_CHECK(index < g_finish.size());
  g_finish[index].store(finish);
  if (index == 0) std::at_quick_exit(end_quickly);
#ifdef __GLIBC__
  // glibc allows exit() here: it goes on with the handlers that are left, coverage and leak checks among them.
  on_exit(
      [](int status, void* call) {
        if (reinterpret_cast<Finish>(call)() || status != 0) return;
        note_verdict();
        std::exit(1);
      },
      reinterpret_cast<void*>(finish));
#else
  std::atexit([] {
    bool is_whole = true;
    for (const std::atomic<Finish>& one : g_finish) {
      if (Finish call = one.exchange(nullptr); call != nullptr) is_whole = call() && is_whole;
    }
    if (is_whole) return;
    std::fflush(nullptr);
    _exit(1);
  });
#endif
}

}  // namespace syscost::session
