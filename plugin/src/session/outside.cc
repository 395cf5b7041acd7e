// SPDX-License-Identifier: MIT
#include "session/outside.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "csv/sink.h"
#include "csv/window_rows.h"
#include "os/message_output.h"
#include "os/text.h"
#include "session/backends/open_backend.h"
#include "session/options/options.h"
#include "session/run/run_info.h"
#include "session/session.h"
#include "session/windows/recorder.h"

namespace syscost::outside {
namespace {

/// The kernel's name for this process's program, by which children are counted until they execute another.
std::string own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view text(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(text.substr(text.rfind('/') + 1));
}

}  // namespace

std::optional<Unavailable> start(std::string_view program, std::string_view build_id,
                                 std::string_view obstacle_inside) {
  session::Session& session = session::process_session();
  if (const Result<void> started = session.start_outside(program, build_id, obstacle_inside); !started.ok()) {
    return Unavailable(started.failure());
  }
  return std::nullopt;
}

bool takes_rights() {
  const session::OpenBackend* const opened = session::process_session().backend().current();
  return opened != nullptr && opened->backend->name() == "seccomp" && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

void note_refused(const char* why) {
  note_refusal(why);
}

std::optional<Unavailable> check_csv(const std::string& path) {
  const Result<void> checked = session::Recorder::check_csv(path);
  return checked.ok() ? std::nullopt : std::optional<Unavailable>(checked.failure());
}

std::optional<Unavailable> write_ends(const std::string& csv, const std::vector<ProgramEnd>& ends) {
  const Result<void> written = session::write_program_ends(csv, ends);
  return written.ok() ? std::nullopt : std::optional<Unavailable>(written.failure());
}

void hold_shared() {
  static std::shared_ptr<void> held;
  held = session::hold_shared(session::process_session().options());
}

void open(std::string_view command) {
  session::process_session().windows().open_command(command, own_program());
}

void open_intervals() {
  session::process_session().intervals().begin();
}

void next_interval() {
  session::process_session().intervals().next();
}

bool close(std::string_view own_program, std::string_view outcome) {
  session::Session& session = session::process_session();
  session.intervals().end();
  session.windows().set_own_program(own_program);
  session.windows().close(outcome, 0);
  session.finish();
  return session.problem().empty();
}

void discard() {
  session::process_session().windows().discard();
}

void name_flags_of_bench_run() {
  name_flags_without_prefix();
}

std::uint64_t* process_control() {
  session::Session& session = session::process_session();
  const session::OpenBackend* const opened = session.is_fork_child() ? nullptr : session.backend().current();
  return opened != nullptr ? opened->backend->process_control() : nullptr;
}

}  // namespace syscost::outside

namespace syscost::session {

Result<void> write_program_ends(const std::string& csv, const std::vector<ProgramEnd>& ends) {
  // Those that the programs below read: the environment has changed since this process's own were read.
  const Result<ParsedOptions> below = parse_options({}, process_environment(), Spelling::prefixed);
  if (!below.ok()) return below.failure();
  csv::RunColumns run = read_run_info(below.value().options, {});
  run.build_id.clear();
  run.build_type.clear();
  run.backend = "none";
  std::pmr::string rows;
  for (const ProgramEnd& end : ends) {
    run.program = end.program;
    run.pid = static_cast<std::uint64_t>(end.process);
    const std::size_t begin = rows.size();
    const std::size_t kind = csv::WindowRows(run).append_exit(rows, end.how);
    if (!end.first_cells.empty()) rows.replace(begin, kind - begin, end.first_cells);
  }
  Result<csv::Sink> sink = csv::Sink::open(csv, lifetime_of_csv(csv));
  return sink.ok() ? sink.value().append(rows) : Result<void>(sink.failure());
}

}  // namespace syscost::session
