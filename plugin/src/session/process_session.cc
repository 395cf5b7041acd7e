// SPDX-License-Identifier: MIT
//
// The process's own session: its options, its start, and the ways out of it.
#include "session/process_session.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "os/environment.h"
#include "session/doctor/backends.h"
#include "session/doctor/doctor.h"
#include "session/loops/loop_run.h"
#include "session/options/help.h"
#include "session/process/messages.h"
#include "session/process/process_end.h"
#include "session/run/counting_variables.h"
#include "session/windows/own_calls.h"
#include "syscost/counting.h"

namespace syscost::session {

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

}  // namespace syscost::session
