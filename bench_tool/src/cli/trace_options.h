// SPDX-License-Identifier: MIT
//
// TraceOptions: the options of `trace` alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syscost::bench::cli {

struct TraceOptions {
  std::string test;                  ///< TEST, or a trace file.
  std::string from;                  ///< FILE: a trace file, a CSV or a folder; empty = syscost_artifacts here.
  std::string syscall;               ///< A selector (model/syscall_choice.h).
  std::vector<std::string> errnos;   ///< `ENOENT`
  std::string site;                  ///< A part of a site.
  bool is_critical_path = false;     ///< The critical path instead of the calls.
  bool is_errors_only = false;       ///< Calls that failed.
  std::vector<std::string> threads;  ///< Kernel's ids, as given.
  std::vector<std::uint32_t> thread_ids;
  std::vector<std::string> between;  ///< Two times, as given.
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::string first, last, slowest;  ///< As given; at most one.
  std::optional<std::size_t> most;   ///< Which of them: the one that is not empty.
};

}  // namespace syscost::bench::cli
