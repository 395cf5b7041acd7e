// SPDX-License-Identifier: MIT
#include "bench.h"

#include <unistd.h>

#include <iostream>
#include <new>
#include <stdexcept>

#include "cli/options.h"
#include "cli/parse.h"
#include "commands/ab/ab.h"
#include "commands/baseline/baseline.h"
#include "commands/check/check.h"
#include "commands/compare/compare.h"
#include "commands/doctor/doctor.h"
#include "commands/export/export.h"
#include "commands/faults/faults.h"
#include "commands/findings/findings.h"
#include "commands/groups/groups.h"
#include "commands/live/watch.h"
#include "commands/log/log.h"
#include "commands/report/report.h"
#include "commands/run/run_programs.h"
#include "commands/runs/runs.h"
#include "commands/scale/scale.h"
#include "commands/show/show.h"
#include "commands/summary/summary.h"
#include "commands/trace/trace.h"
#include "render/terminal.h"

namespace syscost::bench {
namespace {

using cli::Options;

bool wants_color(cli::Color color, const std::ostream& out) {
  if (color != cli::Color::automatic) return color == cli::Color::always;
  if (!render::user_takes_color()) return false;
  return out.rdbuf() == std::cout.rdbuf() && ::isatty(STDOUT_FILENO) == 1;
}

/// The room for text on `out`. If it is not a terminal, the room has no end.
render::Screen screen_for(const Options& options, const std::ostream& out) {
  render::Screen screen;
  if (options.format != cli::Format::text) return screen;
  if (out.rdbuf() == std::cout.rdbuf()) screen = render::screen_of_stdout();
  if (options.width) screen.width = *options.width;
  return screen;
}

int dispatch(const Options& options, std::ostream& out, std::ostream& err) {
  const render::Paint paint(options.format == cli::Format::text && wants_color(options.color, out));
  switch (options.command) {
    case cli::Command::run:
      return commands::run_programs(options, err);
    case cli::Command::watch:
      return commands::watch(options, paint, out, err);
    case cli::Command::summary:
      return commands::summary(options, paint, out, err);
    case cli::Command::compare:
      return commands::compare(options, paint, out, err);
    case cli::Command::show:
      return commands::show(options, paint, out, err);
    case cli::Command::trace:
      return commands::trace(options, paint, out, err);
    case cli::Command::ab:
      return commands::ab(options, paint, out, err);
    case cli::Command::baseline_update:
      return commands::baseline_update(options, out, err);
    case cli::Command::check:
      return commands::check(options, paint, out, err);
    case cli::Command::runs:
      return commands::runs(options, out, err);
    case cli::Command::log:
      return commands::log(options, paint, out, err);
    case cli::Command::scale:
      return commands::scale_run(options, paint, out, err);
    case cli::Command::findings:
      return commands::findings_command(options, paint, out, err);
    case cli::Command::groups:
      return commands::groups_run(options, paint, out, err);
    case cli::Command::faults:
      return commands::faults_command(options, paint, out, err);
    case cli::Command::export_run:
      return commands::export_run(options, out, err);
    case cli::Command::report:
      return commands::report_page(options, out, err);
    case cli::Command::doctor:
      return commands::doctor(options, out, err);
  }
  return cli::kExitBadInput;
}

const char* const kNoMemory =
    "bench: there is not enough memory for the rows of what was given\n"
    "Raise the limit (`ulimit -v unlimited`, a container's memory), or give files with fewer runs or tests in them.\n";

}  // namespace

int bench_main(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const cli::Parsed parsed = cli::parse(args);
  int exit_code = parsed.exit_code;
  if (parsed.options) {
    try {
      Options options = *parsed.options;
      options.screen = screen_for(options, out);
      exit_code = dispatch(options, out, err);
    } catch (const std::bad_alloc&) {
      err << kNoMemory;
      return cli::kExitBadInput;
    } catch (const std::length_error&) {  // a container was to become larger than memory can be
      err << kNoMemory;
      return cli::kExitBadInput;
    }
  } else {
    (exit_code == cli::kExitOk ? out : err) << parsed.message;
  }
  out.flush();
  if (!out) {
    err << "bench: the output could not be written (disk full, or a closed pipe)\n";
    return cli::kExitBadInput;
  }
  return exit_code;
}

}  // namespace syscost::bench
