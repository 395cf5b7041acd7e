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

#include "commands/alternator.h"
#include "commands/compare.h"
#include "csv/problems.h"
#include "model/loader.h"
#include "stats/looks.h"
#include "stats/spread.h"

namespace syscost::bench::commands {
namespace {

/// A line on a terminal that says how far it is; elsewhere nothing.
class Progress {
 public:
  explicit Progress(std::ostream& err)
      : err_(err), is_on_(err.rdbuf() == std::cerr.rdbuf() && ::isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `goal`: rounds to the next look at the results; `undecided`: tests for whose sake it goes on.
  void show(const Alternator& runs, std::size_t goal, std::size_t undecided) {
    if (!is_on_) return;
    std::string line = fmt::format("round {} of {}", runs.rounds() + 1, goal);
    if (runs.rounds() > 0) {
      const double round_s = runs.elapsed().count() / static_cast<double>(runs.rounds());
      line += fmt::format(", {:.1f} s each, about {:.0f} s left", round_s,
                          std::ceil(round_s * static_cast<double>(goal - runs.rounds())));
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

/// Of the first look that may decide; see stats/looks.h.
constexpr double kFirstShares = 2;

/// One measurement from the first round to the result.
class Measurement {
 public:
  Measurement(const cli::Options& options, const MeasurementFolder& folder, std::ostream& err)
      : options_(options),
        err_(err),
        progress_(err),
        runs_(options.a, options.b.empty() ? options.a : options.b, folder.path()) {}

  End run() {
    stats::Look look{1, 1};  // the first round only tells how many tests there are
    for (bool has_looked = false;;) {
      if (const std::optional<End> end = run_up_to(look)) {
        if (*end == End::interrupted && runs_.rounds() > 0 && !look_at(look)) return End::failed;
        return *end;
      }
      if (!has_looked) {
        if (!look_at(look)) return End::failed;
        look = stats::first_look(options_.rounds, judged(), result.limits.alpha);
        has_looked = true;
        continue;
      }
      if (!look_at(look)) return End::failed;
      if (undecided() == 0) return End::decided;
      const stats::Look next = next_within_budget(look);
      if (next.rounds == look.rounds) return End::budget;
      look = next;
    }
  }

  std::size_t rounds() const { return runs_.rounds(); }
  std::size_t undecided() const {
    return static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(), stats::is_undecided));
  }

  CompareResult result;
  csv::Problems problems;

 private:
  std::optional<End> run_up_to(const stats::Look& look) {
    const bool goes_on = look.shares > kFirstShares;
    while (runs_.rounds() < look.rounds) {
      progress_.show(runs_, look.rounds, goes_on ? undecided() : 0);
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

  /// Judges what there is. False when it cannot be read.
  bool look_at(const stats::Look& look) {
    progress_.clear();
    model::LoadOptions load;
    load.for_people = options_.for_people();
    problems = {};
    result.old_data = model::load(runs_.folder_of_a(), load, problems);
    result.new_data = model::load(runs_.folder_of_b(), load, problems);
    result.limits.shares = look.shares;
    const bool is_empty = result.old_data.samples.empty() || result.new_data.samples.empty();
    const std::vector<std::string> faults = is_empty ? std::vector<std::string>() : judge(options_, result);
    if (!is_empty && faults.empty()) return true;
    problems.print(err_);
    for (const std::string& fault : faults) err_ << "bench: " << fault << '\n';
    return false;
  }

  std::size_t judged() const {
    return static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(),
                                                  [](const stats::Comparison& row) { return row.time.has_value(); }));
  }

  /// `last` itself when the budget does not allow for enough rounds to be worth another look.
  stats::Look next_within_budget(const stats::Look& last) const {
    stats::Look next = stats::next_look(last);
    const double elapsed_s = runs_.elapsed().count();
    const double round_s = elapsed_s / static_cast<double>(runs_.rounds());
    const double possible = std::max(0.0, (options_.budget_s - elapsed_s) / std::max(round_s, 1e-9));
    if (possible < static_cast<double>(next.rounds - last.rounds)) {
      next.rounds = last.rounds + static_cast<std::size_t>(possible);
    }
    return 2 * next.rounds >= 3 * last.rounds ? next : last;
  }

  const cli::Options& options_;
  std::ostream& err_;
  Progress progress_;
  Alternator runs_;
};

std::string rounds_line(const Measurement& measured, End end, bool is_noise) {
  std::string line =
      fmt::format("{} rounds of {}", measured.rounds(), is_noise ? "A against itself" : "A (OLD) and B (NEW) in turns");
  if (end == End::interrupted) return line + "; interrupted\n";
  if (end == End::decided) return line + "; every time is decided\n";
  const std::size_t undecided = measured.undecided();
  return line + fmt::format("; the budget is spent with {} time{} undecided\n", undecided, undecided == 1 ? "" : "s");
}

/// What equal code differed by: the further end of each interval.
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

int ab(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  const MeasurementFolder folder(options.keep);
  if (!folder.fault().empty()) {
    err << "bench: " << folder.fault() << '\n';
    return cli::kExitBadInput;
  }
  const InterruptRequest interrupt;
  Measurement measurement(options, folder, err);
  const End end = measurement.run();
  if (end == End::failed) return cli::kExitBadInput;
  if (measurement.rounds() == 0) {
    err << "bench: interrupted before the first round was whole: nothing was measured\n";
    return cli::kExitBadInput;
  }
  const bool is_noise = options.b.empty();
  const bool has_table = options.for_people();
  (has_table ? out : err) << rounds_line(measurement, end, is_noise) << (options.format == cli::Format::md ? "\n" : "");
  const int code = report(options, measurement.result, measurement.problems, paint, out, err);
  if (is_noise) (has_table ? out : err) << noise_line(measurement.result);
  return code;
}

}  // namespace syscost::bench::commands
