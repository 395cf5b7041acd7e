// SPDX-License-Identifier: MIT
//
// The functions of syscost/adapter.h over the process's session.
#include "syscost/adapter.h"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "os/environment.h"
#include "os/message_output.h"
#include "session/process/messages.h"
#include "session/run/run_info.h"
#include "session/session.h"
#include "session/windows/backend_holder.h"

namespace syscost::adapter {
bool take_options(int* argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + *argc);
  const Result<session::ParsedOptions>& parsed =
      session::read_process_options(arguments, session::Spelling::prefixed_short);
  if (!parsed.ok()) {
    session::say_failure(parsed.failure());
    return false;
  }
  session::remove_arguments(argc, argv, parsed.value().used);
  return true;
}

bool requested() {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  // A bad option is a request too: start_or_exit() prints what is wrong with it.
  return !parsed.ok() || parsed.value().options.requests_anything();
}

void check_report_or_exit(std::string_view framework, std::string_view file) {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  if (file.empty() || !parsed.ok() || parsed.value().options.csv.empty()) return;
  const session::Options& options = parsed.value().options;
  const Result<std::string> csv = session::resolve_path(options.csv, options.csv_source);
  if (!csv.ok() || !session::are_one_file(csv.value(), std::string(file))) return;
  session::refuse({"the CSV and the report of " + std::string(framework) + " are one file, " + csv.value() +
                       ": each would overwrite the other",
                   "give --syscost_csv (or SYSCOST_CSV) another name"});
}

void start_or_exit(const Framework& framework) {
  if (!framework.name.empty()) {
    do_unseen([] {
      const session::Session* const session = session::made_process_session.load();
      // It measures nothing, and does not end the tests of its parent.
      if (session == nullptr || !session->is_fork_child()) leave_programs_alone();
    });
  }
  session::Session& session = session::started_session(framework);
  // A process that counts for benchmarks runs passes, of which each has its own numbers.
  if (!framework.name.empty() && !session.options().is_counting_process && !session.is_fork_child())
    session.windows().begin_between();
}

void begin_tests(std::string_view only_test) {
  session::Session& session = session::process_session();
  const session::WorkBetween between = session.work_between();
  const session::OwnWork work(session.backend().current());
  session.begin_tests(only_test);
}

void open_window(const WindowName& name) {
  session::Session& session = session::process_session();
  {
    const session::OwnWork work(session.backend().current());
    session.windows().open(name);
  }
  if (name.kind == Kind::test) session.for_each_part(&session::Part::begin_test);
}

void conclude_test() {
  session::process_session().for_each_part(&session::Part::end_test);
}

Report close_window(std::string_view outcome, int framework_writes) {
  conclude_test();
  session::Session& session = session::process_session();
  const session::OwnWork work(session.backend().current());
  return session.windows().close(outcome, framework_writes, session::Outcome::settled);
}

Report close_unsettled(std::string_view outcome_so_far, int framework_writes) {
  conclude_test();
  session::Session& session = session::process_session();
  const session::OwnWork work(session.backend().current());
  return session.windows().close(outcome_so_far, framework_writes, session::Outcome::may_change);
}

void settle_outcome(std::string_view outcome) {
  session::Session& session = session::process_session();
  const session::OwnWork work(session.backend().current());
  session.windows().settle_outcome(outcome);
}

void pause_window() {
  const session::WorkBetween between = session::process_session().work_between();
  std::optional<session::OwnCalls> own;
  session::process_session().windows().stop_charging(own, session::Windows::Pause::framework);
  session::process_session().for_each_part(&session::Part::pause_test);
}

void resume_window() {
  const session::WorkBetween between = session::process_session().work_between();
  const session::OwnCalls own(session::process_session().loops().backend());
  session::process_session().windows().leave_out_pause({});
  session::process_session().windows().charge_again(session::Windows::Pause::framework);
}

bool is_fork_child() {
  return session::process_session().is_fork_child();
}

bool prints_lines() {
  return session::process_session().prints_lines();
}

bool skips_unavailable(const Unavailable& why) {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  // If a backend counts and could have the number, the number is missing for another reason, for example because
  // events were lost.
  if (!parsed.ok() || why.is_mistake || (session::process_session().can_count() && !why.is_beyond_backend))
    return false;
  switch (parsed.value().options.on_unavailable) {
    case session::Options::OnUnavailable::skip:
      return true;
    case session::Options::OnUnavailable::fail:
      return false;
    case session::Options::OnUnavailable::by_place:
      break;
  }
  const char* ci = syscost::variable("CI");
  return ci == nullptr || *ci == '\0' || std::string_view(ci) == "false" || std::string_view(ci) == "0";
}

void without_faults(const std::function<void()>& work) {
  const session::OwnWork own(session::process_session().backend().current());
  work();
}

void do_unseen(const std::function<void()>& work) {
  const session::Session* const session = session::made_process_session.load();
  if (session == nullptr) return work();
  const session::WorkBetween between = session->work_between();
  work();
}

void finish() {
  session::Session& session = session::process_session();
  const session::WorkBetween between = session.work_between();
  const session::OwnWork work(session.backend().current());
  session.finish();
}

void finish_tests(std::string_view outcome) {
  session::Session& session = session::process_session();
  const session::WorkBetween between = session.work_between();
  const session::OwnWork work(session.backend().current());
  session.finish_tests(outcome);
  if (session.is_fork_child()) return;
  const session::OpenBackend* const opened = session.backend().current();
  measure_programs_again(opened == nullptr || opened->backend->name() != "seccomp");
}

void note_verdict() {
  const session::OwnWork work(session::process_session().backend().current());
  syscost::note_verdict();
}

const char* variable(const char* name) {
  return syscost::variable(name);
}

void say_if_nothing_ran() {
  if (session::has_refused()) return;
  const Result<session::ParsedOptions>& parsed = session::process_options();
  if (!parsed.ok() || parsed.value().options.csv.empty()) return;
  const session::Options& options = parsed.value().options;
  if (options.csv_source == session::Source::environment && session::ctest_parent(getpid()) == 0) return;
  if (session::process_session().is_started()) return;
  const Result<std::string> path = session::resolve_path(options.csv, options.csv_source);
  if (path.ok() && session::has_rows_of_this_program(path.value(), options)) return;  // of workers that it started
  session::say("this program ran no GoogleTest test and measured nothing: it has no rows in " + options.csv);
}

std::string problem() {
  return session::process_session().problem();
}

}  // namespace syscost::adapter
