// SPDX-License-Identifier: MIT
//
// bench trace --critical-path: where the wall time of one test went, from the events that --syscost_sched kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "render/terminal.h"
#include "trace/critical_path.h"

namespace syscost::bench::commands {

/// The path of one test, and which of its steps are listed.
struct ShownPath {
  std::string test;
  const trace::SchedFile& file;
  const trace::CriticalPath& path;
  std::vector<const trace::PathStep*> listed;
};

/// All steps of one thread with one cause.
struct PathSum {
  std::uint32_t thread = 0;
  std::string what;
  std::uint64_t ns = 0;
  std::size_t steps = 0;
};

/// The longest first.
std::vector<PathSum> path_sums(const std::vector<trace::PathStep>& steps);
/// Why the path may be incomplete, a line each.
std::vector<std::string> path_notes(const trace::SchedFile& file, const trace::CriticalPath& path);

int critical_path(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// `runs`; `blocked in read, ended by another process`: what a step's time is.
std::string what_text(const trace::PathStep& step);
/// `parser 4711`
std::string thread_text(const trace::SchedFile& file, std::uint32_t thread);

/// `width` 0: any.
std::string path_text(const ShownPath& shown, const render::Paint& paint, std::size_t width);
std::string path_svg(const ShownPath& shown);
std::string path_csv(const ShownPath& shown);
std::string path_json(const ShownPath& shown);

}  // namespace syscost::bench::commands
