// SPDX-License-Identifier: MIT
#include "commands/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <ostream>
#include <set>

#include "csv/problems.h"
#include "model/loader.h"
#include "render/table.h"
#include "render/units.h"
#include "stats/pairing.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Numbers;
using stats::Verdict;
using stats::WindowSummary;

/// The distinct texts of one context column over the samples that are compared.
std::string values_of(const model::Dataset& data, model::NameId model::Context::*field) {
  std::set<std::string> values;
  for (const model::Sample& sample : data.samples) values.insert(data.text(data.context(sample).*field));
  return fmt::format("{}", fmt::join(values, "+"));
}

void add_warnings(CompareResult& result) {
  struct Check {
    const char* what;
    model::NameId model::Context::*field;
    const char* consequence;
    bool spoils_times;
    const char* if_empty = "?";
  };
  static constexpr std::array<Check, 6> kChecks = {{
      {"backend", &model::Context::backend, "times are not comparable", true},
      {"build type", &model::Context::build_type, "times are not comparable", true},
      {"host", &model::Context::host, "times come from two machines", false},
      {"kernel", &model::Context::kernel, "times and counts may differ for that reason alone", false},
      {"selection", &model::Context::selection,
       "what the first use of a library asks of the kernel may fall into other tests", false},
      {"filter", &model::Context::filter, "other syscalls were counted; neither counts nor times are comparable", true,
       "none"},
  }};
  for (const Check& check : kChecks) {
    const std::string old_value = values_of(result.old_data, check.field);
    const std::string new_value = values_of(result.new_data, check.field);
    if (old_value == new_value) continue;
    result.warnings.push_back(fmt::format("{} differs ({} -> {}): {}", check.what,
                                          old_value.empty() ? check.if_empty : old_value,
                                          new_value.empty() ? check.if_empty : new_value, check.consequence));
    result.times_comparable = result.times_comparable && !check.spoils_times;
  }
}

/// Groups of one side as pairing sees them, with their summaries.
std::vector<stats::PairCandidate> summarize_side(model::Dataset& data, std::vector<WindowSummary>& windows) {
  const std::vector<model::Group> groups = model::group_samples(data);
  windows = stats::summarize_all(data, groups, true);
  std::vector<stats::PairCandidate> candidates;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    candidates.push_back({model::base_name(data, groups[i]), data.text(groups[i].program), groups[i].is_test(data)});
  }
  return candidates;
}

model::LoadOptions load_options(const cli::Options& options, std::size_t side) {
  model::LoadOptions load;
  load.all_runs = options.all_runs;
  load.loads_at_once = 2;
  if (!options.run_ids.empty()) load.run_id = options.run_ids[std::min(side, options.run_ids.size() - 1)];
  return load;
}

/// Loads both sides, each on a thread of its own.
void load_both(const cli::Options& options, CompareResult& result, csv::Problems& problems) {
  csv::Problems new_problems;
  auto other = std::async(std::launch::async,
                          [&] { return model::load(options.runs[1], load_options(options, 1), new_problems); });
  result.old_data = model::load(options.runs[0], load_options(options, 0), problems);
  result.new_data = other.get();
  problems.append(new_problems);
}

/// `862x faster`, `12 % slower`; "" within 1 %, and where nothing can be divided.
std::string factor(double old_ns, double new_ns) {
  if (old_ns <= 0 || new_ns <= 0) return {};
  const bool is_faster = new_ns < old_ns;
  const double ratio = is_faster ? old_ns / new_ns : new_ns / old_ns;
  const char* word = is_faster ? "faster" : "slower";
  if (ratio >= 9.95) return fmt::format(", {:.0f}x {}", ratio, word);
  if (ratio >= 2) return fmt::format(", {:.1f}x {}", ratio, word);
  const double share = 100 * std::abs(new_ns - old_ns) / old_ns;
  return share < 1 ? std::string() : fmt::format(", {:.0f} % {}", share, word);
}

std::string repetitions(const Comparison& row) {
  const std::size_t old_n = row.old_window->n;
  const std::size_t new_n = row.new_window->n;
  if (old_n == 1 && new_n == 1) return {};
  return old_n == new_n ? fmt::format(" (n={})", old_n) : fmt::format(" (n={} and {})", old_n, new_n);
}

std::string wall_cell(const Comparison& row, bool times_comparable) {
  if (row.old_window == nullptr) return render::duration(row.new_window->wall_ns);
  if (row.new_window == nullptr) return render::duration(row.old_window->wall_ns);
  const Numbers& old_wall = row.old_window->wall_ns;
  const Numbers& new_wall = row.new_window->wall_ns;
  std::string text = render::duration(old_wall) + " -> " + render::duration(new_wall);
  if (old_wall && new_wall && times_comparable) text += factor(old_wall->median, new_wall->median);
  return text + repetitions(row);
}

std::string calls_cell(const Comparison& row) {
  auto count = [&](const WindowSummary* window) {
    return window == nullptr ? std::string()
                             : render::count(row.counts_entries || !window->calls ? window->entries : window->calls);
  };
  const std::string old_count = count(row.old_window);
  const std::string new_count = count(row.new_window);
  const char* unit = row.counts_entries ? " entries" : "";
  if (row.old_window == nullptr) return new_count;
  if (row.new_window == nullptr || old_count == new_count) return old_count + unit;
  return old_count + " -> " + new_count + unit;
}

/// The untitled last column: what changed, and the verdict where the numbers do not speak for themselves.
std::string remark(const Comparison& row, const render::Paint& paint) {
  std::string text = breakdown(row);
  if (row.verdict == Verdict::improved) return paint.green(text);
  std::string word(stats::to_string(row.verdict));
  if (!row.reason.empty()) word += ": " + row.reason;
  if (!text.empty()) text += "  ";
  if (row.verdict == Verdict::regressed) return paint.red(text + word);
  return text + word;
}

std::string notes(const CompareResult& result, std::size_t hidden) {
  std::string out = verdict_line(result);
  if (hidden != 0) out += fmt::format(" ({} not shown: --all)", hidden);
  out += '\n';
  const bool has_single = std::any_of(result.rows.begin(), result.rows.end(), [](const Comparison& row) {
    return row.old_window != nullptr && row.new_window != nullptr && (row.old_window->n == 1 || row.new_window->n == 1);
  });
  if (has_single) out += "n=1: one run of a test says little about its time; --gtest_repeat=3 gives medians\n";
  return out;
}

std::string compare_table(const CompareResult& result, bool all, bool markdown, const render::Paint& paint) {
  std::string out;
  for (const std::string& warning : result.warnings) {
    out += paint.yellow("warning: " + warning) + (markdown ? "\n\n" : "\n");
  }
  if (!result.paired.empty()) out += "paired: " + result.paired + (markdown ? "\n\n" : "\n");
  const char* wall = result.is_per_iteration ? "wall/call" : "wall";
  const char* calls = result.is_per_iteration ? "calls/call" : "calls";
  std::vector<render::TableColumn> columns = {{"test"}, {wall}, {calls}, {""}};
  if (markdown) columns = {{"test"}, {"verdict"}, {wall}, {calls}, {"change"}};
  render::Table table(columns);
  std::size_t hidden = 0;
  for (const Comparison& row : result.rows) {
    if (!all && !row.has_changes()) {
      ++hidden;
      continue;
    }
    std::vector<std::string> cells = {row.name, wall_cell(row, result.times_comparable), calls_cell(row)};
    if (markdown) {
      const std::string word(stats::to_string(row.verdict));
      cells.insert(cells.begin() + 1, row.verdict == Verdict::regressed ? "**" + word + "**" : word);
      cells.push_back(row.reason.empty() ? breakdown(row) : row.reason);
    } else {
      cells.push_back(remark(row, paint));
    }
    table.add_row(std::move(cells));
  }
  if (!table.empty()) out += markdown ? table.markdown() + '\n' : table.text(2, 4);
  return out + notes(result, hidden);
}

void write(const cli::Options& options, const CompareResult& result, const render::Paint& paint, std::ostream& out,
           std::ostream& err) {
  switch (options.format) {
    case cli::Format::json:
      out << compare_json(result);
      return;
    case cli::Format::csv:
      for (const std::string& warning : result.warnings) err << "bench: warning: " << warning << '\n';
      out << compare_csv(result, options.all);
      return;
    case cli::Format::md:
    case cli::Format::text:
      out << compare_table(result, options.all, options.format == cli::Format::md, paint);
      return;
  }
}

int verdict_code(const cli::Options& options, const CompareResult& result) {
  auto any = [&](auto is) {
    return std::any_of(result.rows.begin(), result.rows.end(), [&](const Comparison& row) { return is(row.verdict); });
  };
  if (options.gate == cli::Gate::counts && any([](Verdict verdict) { return verdict == Verdict::regressed; })) {
    return cli::kExitRegression;
  }
  return options.is_strict && any(stats::has_no_answer) ? cli::kExitNoVerdict : cli::kExitOk;
}

}  // namespace

std::string breakdown(const Comparison& row) {
  std::string out;
  bool in_errnos = false;
  for (const stats::Delta& delta : row.deltas) {
    const bool is_errno = !delta.errno_name.empty();
    if (!out.empty()) out += is_errno && !in_errnos ? "; " : ", ";
    in_errnos = is_errno;
    const std::string& what = is_errno ? delta.errno_name : delta.syscall;
    if (delta.is_exact()) {
      const double change = delta.new_count.median - delta.old_count.median;
      out += fmt::format("{}{} {}", change > 0 ? '+' : '-', render::count(std::abs(change)), what);
    } else {  // a difference of medians would hide what varies
      out += fmt::format("{} {} -> {}", what, render::count(std::optional(delta.old_count)),
                         render::count(std::optional(delta.new_count)));
      if (delta.change == stats::Change::near) out += " (near)";
    }
    if (is_errno && delta.is_new_errno) out += fmt::format(" (new in {})", delta.syscall);
    if (delta.is_volatile) out += " (volatile)";
  }
  return out;
}

std::string verdict_line(const CompareResult& result) {
  // Bad news first.
  static constexpr std::array<Verdict, 9> kOrder = {Verdict::regressed,    Verdict::errored, Verdict::inconclusive,
                                                    Verdict::incomparable, Verdict::missing, Verdict::added,
                                                    Verdict::improved,     Verdict::near,    Verdict::same};
  std::string out;
  for (Verdict verdict : kOrder) {
    const auto times = std::count_if(result.rows.begin(), result.rows.end(),
                                     [&](const Comparison& row) { return row.verdict == verdict; });
    if (times != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", times, stats::to_string(verdict));
  }
  return out;
}

int compare(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  CompareResult result;
  load_both(options, result, problems);
  if (result.old_data.samples.empty() || result.new_data.samples.empty()) {
    problems.print(err);
    err << "bench: nothing to compare: " << (result.old_data.samples.empty() ? options.runs[0] : options.runs[1])
        << " holds no test\n";
    return cli::kExitBadInput;
  }
  const auto old_side = summarize_side(result.old_data, result.old_windows);
  const auto new_side = summarize_side(result.new_data, result.new_windows);
  const stats::Pairing pairing = stats::pair_windows(old_side, new_side, options.pairs);
  if (!pairing.faults.empty()) {
    problems.print(err);
    for (const std::string& fault : pairing.faults) err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  if (pairing.single) {
    result.paired = stats::pair_name(result.old_windows[*pairing.single->old_index].name,
                                     result.new_windows[*pairing.single->new_index].name) +
                    " (one test in each file)";
  }
  add_warnings(result);
  const stats::Tolerance tolerance{options.near_abs, options.near_rel / 100};
  bool is_anything_paired = false;
  for (const stats::Pair& pair : pairing.pairs) {
    const WindowSummary* old_window = pair.old_index ? &result.old_windows[*pair.old_index] : nullptr;
    const WindowSummary* new_window = pair.new_index ? &result.new_windows[*pair.new_index] : nullptr;
    result.rows.push_back(stats::compare_windows(old_window, new_window, tolerance));
    is_anything_paired = is_anything_paired || (old_window != nullptr && new_window != nullptr);
    for (const WindowSummary* window : {old_window, new_window}) {
      result.is_per_iteration = result.is_per_iteration || (window != nullptr && window->is_per_iteration);
    }
  }
  write(options, result, paint, out, err);
  problems.print(err);
  if (!is_anything_paired) {
    err << "bench: no test is in both runs, so nothing was compared; name renamed tests with --pair OLD=NEW\n";
    return cli::kExitBadInput;
  }
  return problems.empty() ? verdict_code(options, result) : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
