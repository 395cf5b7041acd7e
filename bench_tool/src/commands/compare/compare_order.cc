// SPDX-License-Identifier: MIT
//
// The order of compare's rows: what is worst is read first.

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "commands/compare/causes.h"
#include "commands/compare/compare.h"
#include "commands/shared/gate.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Verdict;

std::size_t rank_of(Verdict verdict) {
  static constexpr std::array<Verdict, 13> kOrder = {
      Verdict::regressed,    Verdict::errored,      Verdict::missing, Verdict::in_doubt, Verdict::inconclusive,
      Verdict::insufficient, Verdict::incomparable, Verdict::added,   Verdict::accepted, Verdict::near,
      Verdict::exchanged,    Verdict::improved,     Verdict::same};
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), verdict) - kOrder.begin());
}

/// How many more gated calls there are. Each syscall that grew counts. A syscall that shrank does not offset it.
double growth(const Comparison& row) {
  double more = 0;
  for (const judge::Delta& delta : row.deltas) {
    const double change = delta.new_count.median - delta.old_count.median;
    if (delta.is_gated() && delta.errno_name.empty()) more += std::max(change, 0.0);
  }
  return more;
}

double calls_changed(const Comparison& row) {
  double changed = 0;
  for (const judge::Delta& delta : row.deltas) {
    if (delta.errno_name.empty()) changed += std::abs(delta.new_count.median - delta.old_count.median);
  }
  return changed;
}

/// NEW's time over OLD's; 1 where a side has none.
double slowdown(const Comparison& row) {
  if (row.time && row.time->ratio) return row.time->ratio->estimate;
  if (!row.is_paired() || !row.old_window->wall_ns || !row.new_window->wall_ns) return 1;
  const double old_ns = row.old_window->wall_ns->median;
  return old_ns > 0 ? row.new_window->wall_ns->median / old_ns : 1;
}

bool comes_before(const Comparison& a, const Comparison& b, const std::string& key, const cli::Gate& gate) {
  if (key == "name") return a.name < b.name;
  if (key == "calls") return calls_changed(a) > calls_changed(b);
  if (key == "wall") return slowdown(a) > slowdown(b);
  const auto worst = [&](const Comparison& row) {
    const std::size_t rank = rank_of(row.verdict);
    // Rows with regressed counts come first, then rows in which only a time regressed.
    const bool is_slower = row.has_time_verdict(Verdict::regressed);
    return std::tuple(gate_failures(row, gate).empty(), is_slower && rank != 0 ? std::size_t{1} : 2 * rank,
                      -growth(row), is_slower ? -slowdown(row) : 0.0);
  };
  return worst(a) < worst(b);
}

}  // namespace

bool is_worth_showing(const CompareResult& result, const Comparison& row) {
  // Counts within the ranges of a baseline are as before. Beside budgets alone each test is new.
  const bool is_as_before =
      result.is_of_baseline &&
      ((row.verdict == Verdict::near && std::none_of(row.deltas.begin(), row.deltas.end(),
                                                     [](const judge::Delta& delta) { return delta.is_new_wait; })) ||
       (row.verdict == Verdict::added && result.sides.empty()));
  return (row.has_changes() && !is_as_before) || !gate_failures(row, result.gate).empty();
}

std::vector<const Comparison*> failing_rows(const CompareResult& result) {
  std::vector<const Comparison*> rows;
  for (const Comparison& row : result.rows) {
    if (!gate_failures(row, result.gate).empty()) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const Comparison* a, const Comparison* b) {
    return comes_before(*a, *b, "worst", result.gate);
  });
  return rows;
}

std::vector<const Comparison*> chosen_rows(const CompareResult& result, const cli::Options& options) {
  const bool for_people = options.for_people();
  std::vector<const Comparison*> rows;
  for (const Comparison& row : result.rows) {
    if (!for_people || options.all || is_worth_showing(result, row)) rows.push_back(&row);
  }
  // Output for machines is not sorted, unless --sort asks for it.
  const std::string key = !options.sort.empty() ? options.sort : for_people ? "worst" : "file";
  if (key != "file") {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Comparison* a, const Comparison* b) { return comes_before(*a, *b, key, result.gate); });
  }
  // The causes above the table say what many tests have in common.
  const bool has_causes = options.format == cli::Format::text && for_people && !options.all &&
                          failing_rows(result).size() > kMostRowsWithCauses;
  const std::size_t most = options.top.value_or(has_causes ? kMostRowsWithCauses : 0);
  if (most != 0 && rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace syscost::bench::commands
