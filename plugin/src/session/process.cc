// SPDX-License-Identifier: MIT
//
// The process's own session: its options, its start, and the ways out of it.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>

#include "session/doctor.h"
#include "session/help.h"
#include "session/messages.h"
#include "session/session.h"
#include "syscost/counting.h"

namespace syscost::session {
namespace {

std::mutex start_mutex;
std::optional<Result<ParsedOptions>> parsed_options;
std::atomic<Session*> made_session{nullptr};

/// The end of main(), or exit(): brings what still waits into the file; a run that is not whole ends non-zero.
void end_process(int status) {
  Session& session = Session::instance();
  if (session.is_fork_child()) return;
  session.finish();
  // Without a request of the user's a problem is data in a Cost, and the program's answer is its own.
  if (status != 0 || !session.options().requests_anything() || session.problem().empty()) return;
#ifdef __GLIBC__
  // Called from within exit(), glibc's goes on with the handlers that are left, coverage and leak checks among them.
  std::exit(1);
#else
  std::fflush(nullptr);
  _exit(1);
#endif
}

void end_process_once() {
  static const bool is_registered = [] {
#ifdef __GLIBC__
    return on_exit([](int status, void*) { end_process(status); }, nullptr) == 0;
#else
    return std::atexit([] { end_process(0); }) == 0;
#endif
  }();
  static_cast<void>(is_registered);
}

/// A main that measures, forks and runs its tests in the child.
void explain_fork_child() {
  static std::atomic<bool> is_explained{false};
  if (is_explained.exchange(true)) return;
  say_failure({"these tests run in a fork child of the process that began to measure: they are not measured",
               "let the process that runs the tests be the first that measures"});
}

}  // namespace

const Result<ParsedOptions>& read_process_options(const std::vector<std::string>& arguments, Spelling spelling) {
  parsed_options = parse_options(arguments, process_environment(), spelling);
  const bool is_silent = is_framework_errand(process_arguments()) || adapter::is_counting_process();
  if (parsed_options->ok() && is_silent) parsed_options->value().options.drop_output();
  if (Session* session = made_session.load(); session != nullptr && parsed_options->ok()) {
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

Session& Session::instance() {
  // Never destroyed: static destructors may still measure.
  static auto* const session = [] {
    const Result<ParsedOptions>& parsed = process_options();
    if (!parsed.ok()) refuse(parsed.failure());
    const Options& options = parsed.value().options;
    auto* made = new Session(options, [filter = options.filter, children = options.children](BackendChoice choice) {
      return open_backend(choice, filter.get(), children);
    });
    made_session.store(made);
    return made;
  }();
  return *session;
}

Session& started_session(const adapter::Framework& framework) {
  Session& session = Session::instance();
  if (session.is_fork_child() && !framework.name.empty() && session.options().requests_anything()) explain_fork_child();
  if (session.is_fork_child() || (session.is_started() && framework.name.empty())) return session;
  std::lock_guard guard(start_mutex);
  if (session.options().help) {
    print_help();
    std::exit(0);
  }
  if (session.options().doctor) std::exit(run_doctor());
  Result<void> started = session.start(framework);
  if (!started.ok()) refuse(started.failure());
  end_process_once();
  return session;
}

}  // namespace syscost::session
