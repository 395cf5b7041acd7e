// SPDX-License-Identifier: MIT
//
// Chosen tests (--test) are judged as they are among all tests: calls that only moved to a test that was not chosen, or
// from one, are seen where the whole program is looked at.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "commands/compare.h"

namespace syscost::bench::commands {
namespace {

using stats::Change;
using stats::Comparison;
using stats::Delta;

bool has_changed(const Delta& delta) {
  return delta.is_gated() && (delta.change == Change::grew || delta.change == Change::shrank);
}

/// False for a pipe: it was read.
bool can_be_read_again(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) || std::filesystem::is_directory(path, ignored);
}

}  // namespace

std::string row_key(const Comparison& row) {
  const stats::WindowSummary& window = row.new_window != nullptr ? *row.new_window : *row.old_window;
  const std::string behind = fmt::format(" ({})", window.program);
  std::string_view name = window.name;
  if (name.ends_with(behind)) name.remove_suffix(behind.size());
  return fmt::format("{}\t{}", window.program, name);
}

void find_calls_moved_to_others(const cli::Options& options, CompareResult& result) {
  const auto is_suspicious = [](const Comparison& row) {
    return std::any_of(row.deltas.begin(), row.deltas.end(), has_changed);
  };
  if (options.tests.empty() || std::none_of(result.rows.begin(), result.rows.end(), is_suspicious)) return;
  if (!std::all_of(options.runs.begin(), options.runs.end(), can_be_read_again)) {
    result.warnings.push_back(
        "a pipe was read for the chosen tests alone: calls that only moved between these and others count as changes");
    return;
  }
  cli::Options all = options;
  all.tests.clear();
  all.locations.clear();
  all.is_counts_only = true;
  csv::Problems of_others;  // lines of tests that were not chosen matter to no one
  CompareResult whole;
  load_both(all, whole, of_others);
  if (!judge(all, whole).empty()) return;
  std::map<std::string, const Comparison*> by_key;
  for (const Comparison& row : whole.rows) by_key.emplace(row_key(row), &row);
  for (Comparison& row : result.rows) {
    const auto found = by_key.find(row_key(row));
    if (found == by_key.end()) continue;
    bool has_moved = false;
    for (Delta& delta : row.deltas) {
      const auto is_same_that_moved = [&](const Delta& other) {
        return other.change == Change::moved && other.syscall == delta.syscall &&
               other.errno_name == delta.errno_name && other.is_fixed == delta.is_fixed;
      };
      const std::vector<Delta>& others = found->second->deltas;
      if (std::none_of(others.begin(), others.end(), is_same_that_moved)) continue;
      delta.change = Change::moved;
      has_moved = true;
    }
    if (has_moved) row.verdict = stats::verdict_of(row.deltas, row.verdict == stats::Verdict::inconclusive);
  }
}

}  // namespace syscost::bench::commands
