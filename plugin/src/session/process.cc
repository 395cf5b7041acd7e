// SPDX-License-Identifier: MIT
//
// The process's own session: its options, its start, and the ways out of it.
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>

#include "session/doctor.h"
#include "session/help.h"
#include "session/messages.h"
#include "session/session.h"

namespace syscost::session {
namespace {

std::mutex start_mutex;
std::optional<Result<ParsedOptions>> parsed_options;

}  // namespace

const Result<ParsedOptions>& read_process_options(const std::vector<std::string>& arguments, Spelling spelling) {
  parsed_options = parse_options(arguments, process_environment(), spelling);
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
    return new Session(parsed.value().options, open_backend);
  }();
  return *session;
}

Session& started_session(const adapter::Framework& framework) {
  Session& session = Session::instance();
  if (session.is_fork_child() || (session.is_started() && framework.name.empty())) return session;
  std::lock_guard guard(start_mutex);
  if (session.options().help) {
    print_help();
    std::exit(0);
  }
  if (session.options().doctor) std::exit(run_doctor());
  Result<void> started = session.start(framework);
  if (!started.ok()) refuse(started.failure());
  return session;
}

}  // namespace syscost::session
