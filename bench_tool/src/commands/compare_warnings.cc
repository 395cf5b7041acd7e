// SPDX-License-Identifier: MIT
//
// Warnings about the differences of two runs. They stand before the numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "commands/compare.h"
#include "commands/surroundings.h"
#include "model/surroundings.h"

namespace syscost::bench::commands {
namespace {

using stats::WindowSummary;

bool is_plain(const model::Dataset& data) {
  return std::all_of(data.samples.begin(), data.samples.end(),
                     [&](const model::Sample& sample) { return data.context(sample).is_plain; });
}

bool has_windows_timed_apart(const std::vector<WindowSummary>& windows) {
  return std::any_of(windows.begin(), windows.end(), [](const WindowSummary& one) { return one.is_timed_apart(); });
}

}  // namespace

void add_warnings(CompareResult& result) {
  result.warnings.clear();
  for (const std::string& line : crash_lines(result.old_data)) result.warnings.push_back("OLD: " + line);
  result.lost = program_faults(result.new_data, &result.old_data);
  std::vector<std::string> of_new = crash_lines(result.new_data);
  if (result.lost.crashed + result.lost.failed_outside != 0) of_new = result.lost.sentences;
  for (const std::string& line : of_new) result.warnings.push_back("NEW: " + line);
  result.comparable = {};
  result.old_backend = model::values_of(result.old_data, &model::Context::backend);
  result.new_backend = model::values_of(result.new_data, &model::Context::backend);
  enum class Spoils { nothing, measured_times, all_times };
  struct Check {
    const char* what;
    model::NameId model::Context::*field;
    const char* consequence;
    Spoils spoils;
    const char* if_empty = "?";
  };
  static constexpr std::array<Check, 6> kChecks = {{
      {"backend", &model::Context::backend,
       "times are not comparable; `auto` takes another one if the rights of a run change, --syscost_backend NAME keeps "
       "one",
       Spoils::measured_times},
      {"build type", &model::Context::build_type, "times are not comparable", Spoils::all_times},
      {"host", &model::Context::host, "times come from two machines", Spoils::nothing},
      {"kernel release", &model::Context::kernel_release, "times and counts may differ for that reason alone",
       Spoils::nothing},
      {"selection", &model::Context::selection, "the calls of a library's first use may fall into other tests",
       Spoils::nothing},
      {"filter", &model::Context::filter, "other syscalls were counted; neither counts nor times are comparable",
       Spoils::measured_times, "none"},
  }};
  const bool has_plain = is_plain(result.old_data) || is_plain(result.new_data);
  const bool has_apart = has_windows_timed_apart(result.old_windows) && has_windows_timed_apart(result.new_windows);
  for (const Check& check : kChecks) {
    const std::string old_value = model::values_of(result.old_data, check.field);
    const std::string new_value = model::values_of(result.new_data, check.field);
    if (old_value == new_value) continue;
    // A file of Google Benchmark has the host, and none of the other facts.
    if (has_plain && (old_value.empty() || new_value.empty())) continue;
    const bool spares_apart = has_apart && check.spoils == Spoils::measured_times;
    result.warnings.push_back(fmt::format("{} differs ({} -> {}): {}{}", check.what,
                                          old_value.empty() ? check.if_empty : old_value,
                                          new_value.empty() ? check.if_empty : new_value, check.consequence,
                                          spares_apart ? ", but for those of loops and benchmarks" : ""));
    if (check.spoils != Spoils::nothing) result.comparable.measured = false;
    if (check.spoils == Spoils::all_times) result.comparable.unmeasured = false;
  }
  for (std::string& line : surroundings_lines(result.old_data, result.new_data)) {
    result.warnings.push_back(std::move(line));
  }
}

}  // namespace syscost::bench::commands
