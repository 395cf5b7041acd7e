// SPDX-License-Identifier: MIT
#include "commands/ab.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "commands/compare.h"
#include "commands/count_rules.h"
#include "commands/interleaved_runner.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "model/loader.h"
#include "render/markdown.h"
#include "stats/interim_analysis.h"
#include "stats/spread.h"

namespace syscost::bench::commands {
namespace {

/// Prints a line with the progress on a terminal, and nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::ostream& err)
      : err_(err), is_on_(err.rdbuf() == std::cerr.rdbuf() && ::isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `goal`: rounds to the next look at the results; `undecided`: tests without a verdict on their time.
  void show(const InterleavedRunner& runs, std::size_t goal, std::size_t undecided, double budget_s) {
    if (!is_on_) return;
    std::string line = fmt::format("round {} of {}", runs.rounds() + 1, goal);
    if (runs.rounds() > 0) {
      const double elapsed_s = runs.elapsed_s();
      const double round_s = elapsed_s / static_cast<double>(runs.rounds());
      const double whole_s = round_s * static_cast<double>(goal - runs.rounds());
      line += fmt::format(", {:.1f} s each, about {:.0f} s left", round_s,
                          std::ceil(std::min(whole_s, std::max(budget_s - elapsed_s, 0.0))));
    }
    if (undecided > 0) line += fmt::format(", for {} undecided", undecided);
    err_ << "\r\033[K" << line << std::flush;
  }
  void clear() {
    if (is_on_) err_ << "\r\033[K" << std::flush;
  }

 private:
  std::ostream& err_;
  bool is_on_;
};

enum class End { decided, budget, interrupted, failed };

/// The first look that may decide comes here; see stats/interim_analysis.h.
constexpr double kFirstShares = 2;

/// One measurement from the first round to the result.
class Measurement {
 public:
  Measurement(const cli::Options& options, const MeasurementFolder& folder, const Clock& clock, std::ostream& err)
      : options_(options),
        err_(err),
        progress_(err),
        runs_(options.a, options.b.empty() ? options.a : options.b, folder.path(), clock, options.has_whole) {}

  End run() {
    // The first round always runs, even beyond the budget, because it shows how many tests there are.
    const std::optional<End> first_end = run_up_to({1, 1});
    if (runs_.rounds() > 0 && !look_at({1, 1})) return End::failed;
    if (first_end) return *first_end;
    if (options_.is_counts_only) {
      const stats::InterimAnalysis last = {options_.rounds, 1};
      const std::optional<End> end = run_up_to(last);
      return end != End::failed && !look_at(last) ? End::failed : end.value_or(End::decided);
    }
    for (stats::InterimAnalysis look = stats::first_look(options_.rounds, judged(), result.limits.alpha);;) {
      const std::optional<End> end = run_up_to(look);
      // Time or the user stopped it early. Neither depends on the results, so a look at the rounds so far is fair.
      if (end != End::failed && !look_at(look)) return End::failed;
      if (end) return *end;
      if (undecided() == 0) return End::decided;
      const stats::InterimAnalysis next = next_within_budget(look);
      if (next.rounds == look.rounds) return End::budget;
      look = next;
    }
  }

  std::size_t rounds() const { return runs_.rounds(); }
  std::size_t undecided() const {
    // Only gated times must be decided. If no time is gated, both must be.
    const cli::Gate& gate = result.gate;
    std::ptrdiff_t times = 0;
    for (const stats::Comparison& row : result.rows) {
      times += (gate.wall || !gate.times()) && stats::is_undecided(row.time) ? 1 : 0;
      times += (gate.cpu || !gate.times()) && stats::is_undecided(row.cpu) ? 1 : 0;
    }
    return static_cast<std::size_t>(times);
  }

  CompareResult result;
  csv::Problems problems;

 private:
  std::optional<End> run_up_to(const stats::InterimAnalysis& look) {
    const bool goes_on = look.shares > kFirstShares;
    while (runs_.rounds() < look.rounds) {
      if (runs_.rounds() > 0 && runs_.rounds_that_fit(options_.budget_s) == 0) return End::budget;
      progress_.show(runs_, look.rounds, goes_on ? undecided() : 0, options_.budget_s);
      const std::string fault = runs_.run_round();
      if (!fault.empty()) {
        progress_.clear();
        err_ << "bench: " << fault;
        return End::failed;
      }
      if (InterruptRequest::is_made()) return End::interrupted;
    }
    return std::nullopt;
  }

  /// Judges the rounds so far. False if they cannot be read.
  bool look_at(const stats::InterimAnalysis& look) {
    progress_.clear();
    model::LoadOptions load;
    load.keep_sites = true;
    load.keep_between = true;
    load.is_printable = options_.is_printable();
    problems = {};
    result.old_data = model::load(runs_.folder_of_a(), load, problems);
    result.new_data = model::load(runs_.folder_of_b(), load, problems);
    result.limits.shares = look.shares;
    const bool is_empty = result.old_data.samples.empty() || result.new_data.samples.empty();
    const std::vector<std::string> faults = is_empty ? std::vector<std::string>() : judge(options_, result);
    if (!is_empty && faults.empty()) return true;
    problems.print(err_);
    for (const std::string& fault : faults) err_ << "bench: " << csv::printable(fault) << '\n';
    return false;
  }

  std::size_t judged() const {
    return static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(),
                                                  [](const stats::Comparison& row) { return row.time.has_value(); }));
  }

  /// `last` itself when the budget does not allow for enough rounds to be worth another look.
  stats::InterimAnalysis next_within_budget(const stats::InterimAnalysis& last) const {
    stats::InterimAnalysis next = stats::next_look(last);
    next.rounds = std::min(next.rounds, last.rounds + runs_.rounds_that_fit(options_.budget_s));
    return 2 * next.rounds >= 3 * last.rounds ? next : last;
  }

  const cli::Options& options_;
  std::ostream& err_;
  Progress progress_;
  InterleavedRunner runs_;
};

std::string rounds_line(const Measurement& measured, End end, const cli::Options& options) {
  std::string line = fmt::format("{} round{} of {}", measured.rounds(), measured.rounds() == 1 ? "" : "s",
                                 options.b.empty() ? "A against itself" : "A (OLD) and B (NEW) in turns");
  if (end == End::interrupted) return line + "; interrupted\n";
  if (options.is_counts_only) {
    if (end == End::budget)
      line += fmt::format("; the budget of {:g} s is spent before {} rounds", options.budget_s, options.rounds);
    return line + "; counts alone, times are not judged\n";
  }
  const std::size_t undecided = measured.undecided();
  if (end == End::budget) {
    line += fmt::format("; the budget of {:g} s is spent", options.budget_s);
    if (measured.rounds() < options.rounds) line += fmt::format(" before {} rounds", options.rounds);
    if (undecided > 0) line += fmt::format(", with {} time{} undecided", undecided, undecided == 1 ? "" : "s");
  }
  return line + (undecided == 0 ? "; every time is decided\n" : "\n");
}

/// How far equal code differed: the end of each interval that is farther from 1.
std::string noise_line(const CompareResult& result) {
  std::vector<double> away;
  std::string worst;
  for (const stats::Comparison& row : result.rows) {
    if (!row.time || !row.time->ratio || !row.time->ratio->interval) continue;
    const stats::Interval& interval = *row.time->ratio->interval;
    away.push_back(std::max(interval.high - 1, 1 / interval.low - 1));
    if (away.back() >= *std::max_element(away.begin(), away.end())) worst = row.name;
  }
  const std::optional<stats::Spread> spread = stats::spread_of(away);
  if (!spread) return "noise: too few rounds to say\n";
  const std::string most = fmt::format("noise: equal code can differ by up to {:.1f} % here", 100 * spread->max);
  if (spread->n == 1) return most + '\n';
  return fmt::format("{} ({}), by {:.1f} % in the middle of {} tests\n", most, worst, 100 * spread->median, spread->n);
}

}  // namespace

int ab(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err,
       const Clock& clock) {
  cli::Options options = asked;
  csv::Problems rule_problems;
  const std::string count_rules = add_rules(options, rule_problems);
  if (!rule_problems.empty()) {
    rule_problems.print(err);
    return cli::kExitBadInput;
  }
  const MeasurementFolder folder(options.keep, err);
  if (!folder.fault().empty()) {
    err << "bench: " << csv::printable(folder.fault()) << '\n';
    return cli::kExitBadInput;
  }
  const InterruptRequest interrupt;
  Measurement measurement(options, folder, clock, err);
  measurement.result.count_rules = count_rules;
  const End end = measurement.run();
  if (end == End::failed) return cli::kExitBadInput;
  if (measurement.rounds() == 0) {
    err << "bench: interrupted before the first round was whole: nothing was measured\n";
    return cli::kExitBadInput;
  }
  const bool is_noise = options.b.empty() && !options.is_counts_only;
  const bool has_table = options.for_people();
  (has_table ? out : err) << rounds_line(measurement, end, options) << (options.format == cli::Format::md ? "\n" : "");
  const int code = report(options, measurement.result, measurement.problems, paint, out, err);
  if (is_noise) {
    const std::string noise = noise_line(measurement.result);
    (has_table ? out : err) << (options.format == cli::Format::md ? render::escaped_lines(noise) : noise);
  }
  return code;
}

}  // namespace syscost::bench::commands
