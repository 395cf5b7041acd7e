// SPDX-License-Identifier: MIT
#include "judge/open_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <string_view>

#include "judge/direction.h"
#include "stats/summaries.h"

namespace syscost::bench::judge {
namespace {

/// `improved` is said by chance of at most one count in so many.
constexpr double kFewerByChanceOnceIn = 10;

/// Program and name of a row's test. A displayed name ends with the program only if several programs of the run have
/// a test of this name; the key does not depend on that.
std::string name_in_program(const Comparison& row) {
  const stats::WindowSummary& window = row.new_window != nullptr ? *row.new_window : *row.old_window;
  const std::string program_suffix = fmt::format(" ({})", window.program);
  std::string_view name = window.name;
  if (name.ends_with(program_suffix)) name.remove_suffix(program_suffix.size());
  return fmt::format("{}\t{}", window.program, name);
}

/// The counts of the first runs. Where these are three or more, only the ends and the middle are known;
/// that is no evidence, only knowledge before the first bet.
std::vector<double> counts_of_first(const stats::Spread& spread) {
  std::vector<double> counts{spread.min};
  while (counts.size() + 1 < spread.n) counts.push_back(spread.median);
  if (spread.n > 1) counts.push_back(spread.max);
  return counts;
}

bool is_same_count(const Delta& a, const Delta& b) {
  return a.syscall == b.syscall && a.errno_name == b.errno_name && a.is_per_run == b.is_per_run;
}

bool is_of_syncs(const Delta& delta) {
  return family_of(delta.syscall) == Family::syncs;
}

bool are_equal(const std::vector<double>& counts) {
  return std::all_of(counts.begin(), counts.end(), [&](double count) { return count == counts.front(); });
}

/// Each test of `program` passed or was skipped. After a failure or a crash its set-ups may not have been made whole.
bool are_whole(const std::vector<stats::WindowSummary>& windows, std::string_view program) {
  return std::ranges::none_of(
      windows, [&](const stats::WindowSummary& one) { return one.program == program && one.is_failed_test(); });
}

std::string runs_text(std::size_t runs) {
  return fmt::format("{} further run{}", runs, runs == 1 ? "" : "s");
}

}  // namespace

bool OpenCounts::Count::agrees_in_each_side() const {
  return are_equal(of_old) && are_equal(of_new);
}

OpenCounts::OpenCounts(const std::vector<Comparison>& rows, RunsAgain which) {
  double varying = 0;
  for (const Comparison& row : rows) {
    if (!row.is_by_counts()) continue;
    varying += static_cast<double>(row.varying);
    if (row.verdict != Verdict::regressed && row.verdict != Verdict::in_doubt) continue;
    const bool is_listed = row.old_window->descriptors_left && row.new_window->descriptors_left;
    if (row.rule == Rule::leaks && !is_listed) {
      leaks_[name_in_program(row)] = {std::string(row.new_window->program), row.new_window, true, {}, {}};
    }
    for (const Delta& delta : row.deltas) {
      if (!delta.is_gated() || (delta.change != Change::grew && delta.change != Change::shrank)) continue;
      if (delta.is_accepted) continue;
      if (!delta.is_in_doubt && delta.change == Change::shrank && !is_of_syncs(delta)) continue;
      if (which == RunsAgain::new_side) {
        add(row, delta, delta.change == Change::shrank);
        continue;
      }
      add(row, delta, false);
      if (is_of_syncs(delta)) add(row, delta, true);
    }
  }
  needed_ = kFalseRedOnceIn * std::max(varying, 1.0);
  std::size_t doubts = 0;
  for (const auto& [key, counts] : counts_) doubts += counts.size();
  for (auto& [key, counts] : counts_) {
    for (Count& count : counts) {
      if (which == RunsAgain::new_side) {
        const std::size_t most = count.of_new.size() + kMostRuns;
        const bool can_tell = count.is_exact() || arrangements(count.of_old.size(), most) >= needed_;
        if (!can_tell) count.decision = Decision::in_doubt;
        continue;
      }
      std::vector<SeenRun> first;
      for (const double of_old : count.of_old) first.push_back({of_old, count.is_fewer});
      for (const double of_new : count.of_new) first.push_back({of_new, !count.is_fewer});
      count.doubt.emplace(std::move(first), doubts, kMostRuns);
    }
  }
}

void OpenCounts::add(const Comparison& row, const Delta& delta, bool is_fewer) {
  Count count;
  count.delta = delta;
  count.delta.sites.clear();
  count.test = row.name;
  count.program = row.new_window->program;
  count.first = row.new_window;
  count.is_fewer = is_fewer;
  count.of_old = counts_of_first(delta.old_count);
  count.of_new = counts_of_first(delta.new_count);
  counts_[name_in_program(row)].push_back(std::move(count));
}

std::size_t OpenCounts::tests() const {
  std::set<std::string_view> open;
  for (const auto& [test, counts] : counts_) {
    const auto is_open = [](const Count& count) { return count.decision == Decision::go_on; };
    if (std::ranges::any_of(counts, is_open)) open.insert(test);
  }
  for (const auto& [test, leak] : leaks_) {
    if (leak.is_open) open.insert(test);
  }
  return open.size();
}

std::set<std::string> OpenCounts::programs() const {
  std::set<std::string> programs;
  for (const auto& [key, counts] : counts_) {
    for (const Count& count : counts) {
      if (count.decision == Decision::go_on) programs.insert(count.program);
    }
  }
  for (const auto& [key, leak] : leaks_) {
    if (leak.is_open) programs.insert(leak.program);
  }
  return programs;
}

void OpenCounts::take(Count& count, double found, bool is_new) {
  ++count.runs;
  (is_new ? count.of_new : count.of_old).push_back(found);
  if (!count.doubt) {
    decide_beside_file(count);
    return;
  }
  const Decision now = count.doubt->add({found, is_new != count.is_fewer});
  if (count.decision == Decision::go_on) count.decision = now;
}

void OpenCounts::take(const std::vector<stats::WindowSummary>& windows, const std::vector<Comparison>& rows,
                      bool is_new) {
  std::set<std::string> seen;
  for (const Comparison& row : rows) {
    seen.insert(name_in_program(row));
    if (!row.is_by_counts()) continue;
    if (const auto leak = leaks_.find(name_in_program(row)); is_new && leak != leaks_.end() && leak->second.is_open) {
      const auto least = [](const stats::Numbers& left) { return left ? std::optional(left->min) : std::nullopt; };
      leak->second = {leak->second.program, leak->second.first, false, least(row.new_window->descriptors_left),
                      least(row.new_window->mapped_bytes_left)};
    }
    const auto test = counts_.find(name_in_program(row));
    if (test == counts_.end()) continue;
    for (Count& count : test->second) {
      const stats::Numbers found = count_in(is_new ? *row.new_window : *row.old_window, count.delta, row);
      if (found) take(count, found->median, is_new);
    }
  }
  // A set-up that made no call in either of the two runs is in none of the rows. Without it, only the runs of this side
  // that made calls would count, beside all runs of the other side.
  std::deque<stats::WindowSummary> made;
  const auto made_no_call = [&](const std::string& key, const stats::WindowSummary& first) {
    return !seen.contains(key) && are_whole(windows, first.program) &&
           stats::without_calls(first, windows, made) != nullptr;
  };
  for (auto& [key, counts] : counts_) {
    if (!made_no_call(key, *counts.front().first)) continue;
    for (Count& count : counts) take(count, 0, is_new);
  }
  for (auto& [key, leak] : leaks_) {
    if (is_new && leak.is_open && made_no_call(key, *leak.first)) leak = {leak.program, leak.first, false, 0.0, 0.0};
  }
}

void OpenCounts::decide_beside_file(Count& count) const {
  if (count.decision == Decision::red || count.decision == Decision::not_red) return;
  const auto [least_old, most_old] = std::minmax_element(count.of_old.begin(), count.of_old.end());
  const auto [least_new, most_new] = std::minmax_element(count.of_new.begin(), count.of_new.end());
  const bool is_beyond = count.is_fewer ? *most_new < *least_old : *least_new > *most_old;
  if (!is_beyond) {
    count.decision = Decision::not_red;
  } else if ((count.is_exact() && are_equal(count.of_new)) ||
             arrangements(count.of_old.size(), count.of_new.size()) >= needed_) {
    count.decision = Decision::red;
  } else if (arrangements(count.of_old.size(), count.of_new.size() + kMostRuns - std::min(kMostRuns, count.runs)) <
             needed_) {
    count.decision = Decision::in_doubt;
  }
}

std::vector<const OpenCounts::Count*> OpenCounts::counts_of(const Comparison& row, const Delta& delta) const {
  std::vector<const Count*> found;
  const auto test = counts_.find(name_in_program(row));
  if (test == counts_.end()) return found;
  for (const Count& count : test->second) {
    if (is_same_count(count.delta, delta)) found.push_back(&count);
  }
  return found;
}

std::string OpenCounts::reason_of(const Count& count) const {
  const std::string runs = runs_text(count.runs);
  if (!count.doubt) {
    switch (count.decision) {
      case Decision::red:
        if (count.is_exact() && are_equal(count.of_new)) return fmt::format("the same in {}", runs);
        return fmt::format("NEW's {} runs lie {} OLD's {}", count.of_new.size(), count.is_fewer ? "below" : "above",
                           count.of_old.size());
      case Decision::not_red:
        return fmt::format("not so in {}", count.runs == 1 ? runs : fmt::format("one of {}", runs));
      default:
        return count.runs == 0 ? "" : fmt::format("may be chance after {}", runs);
    }
  }
  if (count.decision == Decision::red) {
    return fmt::format("{} tell, odds {:.0f} : 1 ({:.0f} : 1 decides)", runs, count.doubt->evidence(),
                       count.doubt->needed());
  }
  if (count.decision == Decision::not_red) {
    const std::optional<std::int64_t> less_than = count.doubt->grew_by_less_than();
    if (!less_than) return fmt::format("{} do not repeat it", runs);
    return fmt::format("{} exclude {}{} and more", runs, count.is_fewer ? '-' : '+', *less_than);
  }
  if (count.is_exact() && count.agrees_in_each_side()) return fmt::format("the same in {}", runs);
  const std::optional<std::int64_t> told_from = count.doubt->told_from();
  return fmt::format(
      "may be chance after {}{}", runs,
      told_from ? fmt::format("; {}{} and more would have shown", count.is_fewer ? '-' : '+', *told_from) : "");
}

std::string OpenCounts::text() const {
  constexpr std::size_t kMostNamed = 5;
  std::size_t opened = 0;
  std::size_t doubtful = 0;
  std::vector<std::string> cleared;
  for (const auto& [key, counts] : counts_) {
    const bool was_open = std::any_of(counts.begin(), counts.end(), [](const Count& count) {
      return count.runs > 0 || count.decision == Decision::go_on;
    });
    opened += was_open ? 1 : 0;
    const auto has = [&of_test = counts](Decision decision) {
      return std::any_of(of_test.begin(), of_test.end(), [&](const Count& one) { return one.decision == decision; });
    };
    if (was_open && has(Decision::in_doubt) && !has(Decision::red) && !has(Decision::go_on)) ++doubtful;
    const bool is_cleared = std::all_of(counts.begin(), counts.end(),
                                        [](const Count& count) { return count.decision == Decision::not_red; });
    if (is_cleared) cleared.push_back(counts.front().test);
  }
  if (opened == 0) return {};
  std::string out =
      fmt::format(": {} of {} test{} decided", opened - doubtful - tests(), opened, opened == 1 ? "" : "s");
  if (doubtful != 0) {
    out += fmt::format("; {} stay{} in doubt: {} runs cannot tell", doubtful, doubtful == 1 ? "s" : "", kMostRuns);
  }
  if (cleared.empty()) return out;
  const auto end = cleared.begin() + static_cast<std::ptrdiff_t>(std::min(cleared.size(), kMostNamed));
  return out + fmt::format("; no change after all: {}{}", fmt::join(cleared.begin(), end, ", "),
                           cleared.size() > kMostNamed ? ", ..." : "");
}

void OpenCounts::apply_to(Comparison& row) const {
  if (!row.is_by_counts()) return;
  if (const auto leak = leaks_.find(name_in_program(row)); leak != leaks_.end() && !leak->second.is_open) {
    row.descriptors_left_again = leak->second.descriptors;
    row.mapped_left_again = leak->second.mapped;
    conclude(row);
  }
  const Count* telling = nullptr;  // the reason is about this count: the first of those with the worst decision
  const auto rank = [](const Count& count) {
    return count.decision == Decision::red ? 2 : count.decision == Decision::not_red ? 0 : 1;
  };
  for (Delta& delta : row.deltas) {
    const std::vector<const Count*> counts = counts_of(row, delta);
    if (counts.empty()) continue;
    if (std::all_of(counts.begin(), counts.end(), [](const Count* count) { return count->runs == 0; })) continue;
    const Count& worst = **std::max_element(counts.begin(), counts.end(),
                                            [&](const Count* a, const Count* b) { return rank(*a) < rank(*b); });
    if (telling == nullptr || rank(worst) > rank(*telling)) telling = &worst;
    delta.old_count = *stats::spread_of(worst.of_old);
    delta.new_count = *stats::spread_of(worst.of_new);
    switch (worst.decision) {
      case Decision::red:
        delta.is_in_doubt = false;
        delta.rule = Rule::further_runs;
        delta.change = worst.is_fewer ? Change::shrank : Change::grew;
        break;
      case Decision::not_red:
        delta.is_in_doubt = false;
        delta.rule = Rule::further_runs;
        delta.change = worst.doubt && worst.doubt->evidence_for_fewer() >= kFewerByChanceOnceIn && !is_of_syncs(delta)
                           ? Change::shrank
                           : Change::near;
        break;
      default:
        delta.is_in_doubt = !(worst.is_exact() && worst.agrees_in_each_side());
        delta.rule = delta.is_in_doubt ? Rule::chance : Rule::exact;
    }
  }
  if (telling == nullptr) return;
  // A red count may have taken the place of calls that became fewer: those need no evidence, for they make nothing red.
  if (telling->decision == Decision::red) {
    for (Delta& delta : row.deltas) {
      const bool is_fewer = delta.is_gated() && delta.new_count.median < delta.old_count.median && !is_of_syncs(delta);
      if (!is_fewer) continue;
      delta.is_in_doubt = false;
      delta.rule = Rule::further_runs;
      delta.change = Change::shrank;
    }
  }
  conclude(row);
  row.add_reason(reason_of(*telling));
}

}  // namespace syscost::bench::judge
