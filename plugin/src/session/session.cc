// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <unistd.h>

#include <algorithm>
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

#include "extras/commands/options/command_options.h"
#include "os/environment.h"
#include "os/errors.h"
#include "os/message_output.h"
#include "session/backends/doctor.h"
#include "session/backends/open_backend.h"
#include "session/loops/loop_run.h"
#include "session/options/option_table.h"
#include "session/process/messages.h"
#include "session/run/run_info.h"
#include "session/windows/backend_holder.h"
#include "session/windows/scopes.h"
#include "syscost/counting.h"

namespace syscost::session {

Session::Session(Options options, BackendOpener opener, const PartMaker& make)
    : shared_(std::move(options), std::move(opener)),
      parts_(make({shared_, [this] { return loops_.attach_for_scope(); }})) {
  // Made now, so that scopes do not make them inside windows.
  unavailable_cost::pending();
  unavailable_cost::fork_child();
  unavailable_cost::timed_pass();
}

Part& Session::part_named(std::string_view name) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) { return part->name() == name; });
  SYSCOST_CHECK(found != parts_.end());
  return **found;
}

std::vector<WindowObserver*> Session::observers() const {
  std::vector<WindowObserver*> all;
  for (const std::unique_ptr<Part>& part : parts_) {
    if (WindowObserver* observer = part->observer(); observer != nullptr) all.push_back(observer);
  }
  return all;
}

LoopTools* Session::loop_tools() const {
  for (const std::unique_ptr<Part>& part : parts_) {
    if (LoopTools* tools = part->loop_tools(); tools != nullptr) return tools;
  }
  return nullptr;
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

/// The text after the backend's name: how it counts, and what the parts say.
std::string Session::backend_note() const {
  std::string of_parts;
  for (const std::unique_ptr<Part>& part : parts_) of_parts += part->note();
  OpenBackend* opened = shared_.backend.current();
  if (opened == nullptr) return " (counts stay empty)" + of_parts;
  std::string note = describe_calibration(opened->backend->calibration());
  if (!note.empty()) note = " (" + note + ")";
  if (const std::string passed = failures_of_earlier_backends(); !passed.empty()) note += ", not " + passed;
  return note + of_parts;
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
  shared_.has_framework = shared_.has_framework || !framework.name.empty();
  read_run(framework, is_new);
  if (!is_new) return {};
  shared_.recorder.set_loss_rule(!shared_.options.requests_anything() ? LossRule::ignored
                                 : shared_.options.allow_lost         ? LossRule::accepted
                                                                      : LossRule::refused);
  for (const std::unique_ptr<Part>& part : parts_) {
    if (Result<void> started = part->start(); !started.ok()) return started;
  }
  if (!shared_.options.csv.empty() && !shared_.recorder.has_csv()) {
    Result<std::string> path = resolve_path(shared_.options.csv, shared_.options.csv_source);
    if (!path.ok()) return path.failure();
    Result<void> csv = shared_.recorder.open_csv(path.value(), lifetime_of_csv(path.value()));
    if (!csv.ok()) return csv;
  }
  if (shared_.options.requests_anything()) {
    say_start(header_line(shared_.run, backend_note(), shared_.recorder.csv_path()));
    const OpenBackend* opened = shared_.backend.current();
    if (const std::string remark = opened != nullptr ? opened->backend->remark() : std::string(); !remark.empty()) {
      say_start(remark);
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
      (shared_.recorder.has_csv() && options.csv != shared_.options.csv) ||
      std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_on(); })) {
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

void Session::begin_tests(std::string_view only_test) {
  if (!is_fork_child() && is_started()) shared_.recorder.begin_tests(only_test);
}

void Session::finish_tests(std::string_view outcome) {
  if (is_fork_child() || !is_started()) return;
  for (const std::unique_ptr<Part>& part : parts_) part->finish_tests();
  shared_.recorder.finish(outcome);
}

void Session::conclude() {
  if (is_fork_child() || !is_started()) return;
  for (const std::unique_ptr<Part>& part : parts_) part->end_process();
  shared_.recorder.conclude();
  for (const std::unique_ptr<Part>& part : parts_) part->end_rows();
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
  session.for_each_part([](Part& part) {
    if (const std::optional<int> code = part.answer(); code.has_value()) std::exit(*code);
  });
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
  // glibc allows exit() here: it goes on with the handlers that are left, those of coverage and sanitizers among them.
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
