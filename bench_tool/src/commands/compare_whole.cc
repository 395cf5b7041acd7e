// SPDX-License-Identifier: MIT
//
// Chosen tests (--test) are judged as they are among all tests: calls that only moved to a test that was not chosen, or
// from one, and counts that come and go in all of them, are seen where the whole program is looked at.
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

/// True if other tests can change the verdict. The chosen tests alone decide about `moved`.
bool has_changed(const Delta& delta) {
  return delta.is_gated() && delta.change != Change::none;
}

/// Takes the verdict on counts from `among_all`, the same test. The verdict on times stays.
void take_counts(const Comparison& among_all, Comparison& row) {
  for (Delta& delta : row.deltas) {
    const auto same = std::find_if(among_all.deltas.begin(), among_all.deltas.end(), [&](const Delta& other) {
      return other.syscall == delta.syscall && other.errno_name == delta.errno_name &&
             other.is_per_run == delta.is_per_run;
    });
    if (same != among_all.deltas.end()) delta.change = same->change;
  }
  row.verdict = among_all.verdict;
  row.reason = among_all.reason;
}

void take_warnings(const CompareResult& whole, CompareResult& result) {
  const auto has = [](const std::vector<stats::ScatteredProgram>& programs, std::string_view name) {
    return std::any_of(programs.begin(), programs.end(), [&](const auto& one) { return one.name == name; });
  };
  for (const stats::ScatteredProgram& program : whole.scattered) {
    const bool is_chosen = std::any_of(result.rows.begin(), result.rows.end(), [&](const Comparison& row) {
      return row.new_window != nullptr && row.new_window->program == program.name;
    });
    if (is_chosen && !has(result.scattered, program.name)) result.warnings.push_back(stats::warning_of(program));
  }
}

/// False for a pipe, which can be read only once.
bool can_be_read_again(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) || std::filesystem::is_directory(path, ignored);
}

}  // namespace

std::string row_key(const Comparison& row) {
  const stats::WindowSummary& window = row.new_window != nullptr ? *row.new_window : *row.old_window;
  const std::string program_suffix = fmt::format(" ({})", window.program);
  std::string_view name = window.name;
  if (name.ends_with(program_suffix)) name.remove_suffix(program_suffix.size());
  return fmt::format("{}\t{}", window.program, name);
}

void judge_among_all_tests(const cli::Options& options, CompareResult& result) {
  const auto is_suspicious = [](const Comparison& row) {
    return std::any_of(row.deltas.begin(), row.deltas.end(), has_changed);
  };
  if (options.tests.empty() || std::none_of(result.rows.begin(), result.rows.end(), is_suspicious)) return;
  if (!std::all_of(options.runs.begin(), options.runs.end(), can_be_read_again)) {
    result.warnings.emplace_back(
        "a pipe was read for the selected tests only: calls that only moved between them and other tests count as "
        "changes, and so do counts that scatter in all tests");
    return;
  }
  cli::Options all = options;
  all.tests.clear();
  all.locations.clear();
  all.is_counts_only = true;
  csv::Problems of_others;  // problems in lines of other tests do not matter
  CompareResult whole;
  load_both(all, whole, of_others);
  if (!judge(all, whole).empty()) return;
  std::map<std::string, const Comparison*> by_key;
  for (const Comparison& row : whole.rows) by_key.emplace(row_key(row), &row);
  for (Comparison& row : result.rows) {
    const auto found = by_key.find(row_key(row));
    if (found == by_key.end() || !is_suspicious(row)) continue;
    // If each side has one chosen test, they are paired despite different names. Among all tests they are not.
    const Comparison& among_all = *found->second;
    if (among_all.is_paired() && among_all.old_window->test == row.old_window->test) take_counts(among_all, row);
  }
  take_warnings(whole, result);
}

}  // namespace syscost::bench::commands
