// SPDX-License-Identifier: MIT
#include "bench.h"

#include <unistd.h>

#include <iostream>
#include <new>
#include <stdexcept>

#include "cli/options.h"
#include "cli/parse.h"
#include "commands/commands.h"
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

const char* const kNoMemory =
    "bench: there is not enough memory for the rows of what was given\n"
    "Raise the limit (`ulimit -v unlimited`, a container's memory), or give files with fewer runs or tests in them.\n";

}  // namespace

int bench_main(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const cli::Parsed parsed = cli::parse(args, commands::kAll);
  int exit_code = parsed.exit_code;
  if (parsed.options) {
    try {
      Options options = *parsed.options;
      options.screen = screen_for(options, out);
      const render::Paint paint(options.format == cli::Format::text && wants_color(options.color, out));
      exit_code = parsed.command->run(options, paint, out, err);
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
