// SPDX-License-Identifier: MIT
#include "session/run/program_ends.h"

#include <cstddef>
#include <cstdint>

#include "csv/sink.h"
#include "csv/window_rows.h"
#include "session/options/options.h"
#include "session/run/run_info.h"

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
