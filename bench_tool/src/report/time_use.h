// SPDX-License-Identifier: MIT
//
// time_use: where the time of each test went. Its wall time went along the critical path through all its threads; a GPU
// was busy with kernels or with copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/run.h"

namespace syscost::bench::report {

/// The steps of a critical path that have one thread and one cause, together.
struct PathPart {
  std::string thread;  ///< `parser 4711`
  std::string what;    ///< `blocked in read, ended by: another process`
  std::uint64_t took_ns = 0;
  std::size_t steps = 0;
};

/// The time of one path by kind; the four are all of it, but for what is unknown.
struct PathTimes {
  std::string test;  ///< Its name.
  std::uint64_t wall_ns = 0, runs_ns = 0, waits_for_cpu_ns = 0, blocked_ns = 0, unknown_ns = 0;
};

/// The critical path of a test, from a run with --syscost_sched.
struct Path {
  PathTimes times;
  std::vector<PathPart> parts;     ///< The longest first.
  std::vector<std::string> notes;  ///< Events that are missing.
  std::string picture;             ///< SVG, on white ground.
};

/// The part of a test's card.
std::string path_part(const Path& path);
/// All paths of the page.
std::string waiting_section(const Run& run, const std::vector<PathTimes>& paths);

/// A bar for each test that has both sums, by CUPTI's figures (--syscost_profile cupti): the time of GPU kernels, and
/// that of copies between host and device. "" if there is none.
std::string gpu_balance(const Run& run);

}  // namespace syscost::bench::report
