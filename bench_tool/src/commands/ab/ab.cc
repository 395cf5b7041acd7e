// SPDX-License-Identifier: MIT
#include "commands/ab/ab.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands/compare/compare.h"
#include "commands/compare/count_rules.h"
#include "commands/shared/command_runs.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "model/loader.h"
#include "render/output_file.h"
#include "render/table.h"
#include "stats/repetitions.h"
#include "stats/significance.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;

/// The times of the command itself, as a file that `compare` can read.
std::string whole_text(const ChildEnd& end) {
  return fmt::format(
      R"({{"context": {{}}, "benchmarks": [{{"name": "whole command", "run_name": "whole command", "run_type": )"
      R"("iteration", "iterations": 1, "real_time": {}, "cpu_time": {}, "time_unit": "ns"}}]}})"
      "\n",
      end.wall_ns, end.cpu_ns);
}

enum class End { decided, budget, interrupted, failed };

/// The first look that may decide comes here; see stats/significance.h.
constexpr double kFirstShares = 2;

/// One measurement from the first round to the result.
class Measurement {
 public:
  Measurement(const cli::Options& options, const Clock& clock, std::ostream& err)
      : options_(options), err_(err), runs_(options.budget_s, SIZE_MAX, err, options.keep, clock) {
    sides_ = {{{"A", options.a, runs_.folder() / "a"},
               {"B", options.b.empty() ? options.a : options.b, runs_.folder() / "b"}}};
  }

  /// Why nothing can be measured, or "".
  const std::string& fault() const { return runs_.fault(); }

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
    for (const judge::Comparison& row : result.rows) {
      times += (gate.wall || !gate.times()) && judge::is_undecided(row.time) ? 1 : 0;
      times += (gate.cpu || !gate.times()) && judge::is_undecided(row.cpu) ? 1 : 0;
    }
    return static_cast<std::size_t>(times);
  }

  CompareResult result;
  csv::Problems problems;

 private:
  struct Side {
    const char* name;
    std::vector<std::string> command;
    fs::path folder;

    fs::path file(std::size_t round, std::string_view extension) const {
      return folder / fmt::format("{:06}.{}", round, extension);
    }
  };

  std::optional<End> run_up_to(const stats::InterimAnalysis& look) {
    const bool goes_on = look.shares > kFirstShares;
    while (runs_.rounds() < look.rounds) {
      if (runs_.rounds() > 0 && runs_.rounds_that_fit() == 0) return End::budget;
      show_progress(look.rounds, goes_on ? undecided() : 0);
      const std::string fault = run_round();
      if (!fault.empty()) {
        runs_.progress().clear();
        err_ << "bench: " << fault;
        return End::failed;
      }
      if (InterruptRequest::is_made()) return End::interrupted;
    }
    return std::nullopt;
  }

  /// `goal`: rounds to the next look at the results; `undecided`: tests without a verdict on their time.
  void show_progress(std::size_t goal, std::size_t undecided) {
    std::string line = fmt::format("round {} of {}", runs_.rounds() + 1, goal);
    if (runs_.rounds() > 0) {
      const double elapsed_s = runs_.elapsed_s();
      const double round_s = elapsed_s / static_cast<double>(runs_.rounds());
      const double whole_s = round_s * static_cast<double>(goal - runs_.rounds());
      line += fmt::format(", {:.1f} s each, about {:.0f} s left", round_s,
                          std::ceil(std::min(whole_s, std::max(options_.budget_s - elapsed_s, 0.0))));
    }
    if (undecided > 0) line += fmt::format(", for {} undecided", undecided);
    runs_.progress().show(line);
  }

  /// Runs both commands once: A B, B A, A B, ..., so that a drift of the machine affects both alike. Returns the error,
  /// or "". Only whole rounds are kept: an interrupted one leaves no files.
  std::string run_round() {
    const std::size_t first = runs_.rounds() % 2;
    for (const std::size_t side : {first, 1 - first}) {
      std::string fault = InterruptRequest::is_made() ? "" : run_once(sides_[side]);
      // If an interrupt ended the command, it did not fail.
      if (InterruptRequest::is_made()) fault.clear();
      if (!InterruptRequest::is_made() && fault.empty()) continue;
      std::error_code ignored;
      for (const Side& one : sides_) {
        for (const char* extension : {"csv", "json", "whole.json"}) {
          fs::remove(one.file(runs_.rounds() + 1, extension), ignored);
        }
      }
      return fault;
    }
    runs_.count_round();
    return {};
  }

  std::string run_once(const Side& side) {
    const std::size_t round = runs_.rounds() + 1;
    const fs::path json = side.file(round, "json");
    // A benchmark that is not linked with us still writes its times.
    const OwnRun run = runs_.run(side.command, side.file(round, "csv"), fmt::format("ab-{}-{}", side.name, round),
                                 {"BENCHMARK_OUT=" + json.string(), "BENCHMARK_OUT_FORMAT=json"});
    const std::string command = fmt::format("{} ({})", side.name, fmt::join(side.command, " "));
    if (!run.fault.empty()) return fmt::format("{} {}", command, run.fault);
    if (run.end.status != 0) {
      return fmt::format("{} failed in round {}: {}. It printed:\n{}", command, round, status_text(run.end.status),
                         tail_of(run.output));
    }
    if (options_.has_whole) {
      const std::string fault =
          render::write_output(side.file(round, "whole.json").string(), {"{", "file of times"}, whole_text(run.end));
      if (!fault.empty()) return fault + '\n';
    }
    std::error_code ignored;
    // A program that is linked with syscost has written both files. The CSV has more.
    if (run.has_csv()) {
      fs::remove(json, ignored);
      return {};
    }
    if (!fs::exists(json, ignored) && options_.has_whole) return {};  // any command may be timed
    if (!fs::exists(json, ignored)) {
      return fmt::format(
          "{} wrote no file: it is neither linked with syscost nor a Google Benchmark, or it names its own file "
          "(--syscost_csv, --benchmark_out; leave these out)\n",
          command);
    }
    if (fs::file_size(json, ignored) == 0) {
      return fmt::format("{} ran no benchmark. It printed:\n{}", command, tail_of(run.output));
    }
    return {};
  }

  /// Judges the rounds so far. False if they cannot be read.
  bool look_at(const stats::InterimAnalysis& look) {
    runs_.progress().clear();
    model::LoadOptions load;
    load.keep_sites = true;
    load.is_printable = options_.is_printable();
    load.tests = model::TestChoice(options_.tests);
    problems = {};
    result.old_data = model::load(sides_[0].folder.string(), load, problems);
    result.new_data = model::load(sides_[1].folder.string(), load, problems);
    result.limits.shares = look.shares;
    const bool is_empty = result.old_data.samples.empty() || result.new_data.samples.empty();
    const std::vector<std::string> faults = is_empty ? std::vector<std::string>() : judge(options_, result);
    if (!is_empty && faults.empty()) return true;
    problems.print(err_);
    if (is_empty && problems.empty()) {
      err_ << "bench: no test was measured" << (options_.tests.empty() ? "" : " that --test names") << " on "
           << (result.old_data.samples.empty() ? "side A" : "side B") << '\n';
    }
    for (const std::string& fault : faults) err_ << "bench: " << csv::printable(fault) << '\n';
    return false;
  }

  std::size_t judged() const {
    return static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(),
                                                  [](const judge::Comparison& row) { return row.time.has_value(); }));
  }

  /// `last` itself when the budget does not allow for enough rounds to be worth another look.
  stats::InterimAnalysis next_within_budget(const stats::InterimAnalysis& last) const {
    stats::InterimAnalysis next = stats::next_look(last);
    next.rounds = std::min(next.rounds, last.rounds + runs_.rounds_that_fit());
    return 2 * next.rounds >= 3 * last.rounds ? next : last;
  }

  const cli::Options& options_;
  std::ostream& err_;
  CommandRuns runs_;
  std::array<Side, 2> sides_;
};

std::string rounds_line(const Measurement& measured, End end, const cli::Options& options) {
  std::string line = fmt::format("{} round{} of {}", measured.rounds(), measured.rounds() == 1 ? "" : "s",
                                 options.b.empty() ? "A against itself" : "A (OLD) and B (NEW) in turns");
  if (end == End::interrupted) return line + "; interrupted";
  if (options.is_counts_only) {
    if (end == End::budget)
      line += fmt::format("; the budget of {:g} s is spent before {} rounds", options.budget_s, options.rounds);
    return line + "; counts alone, times are not judged";
  }
  const std::size_t undecided = measured.undecided();
  if (end == End::budget) {
    line += fmt::format("; the budget of {:g} s is spent", options.budget_s);
    if (measured.rounds() < options.rounds) line += fmt::format(" before {} rounds", options.rounds);
    if (undecided > 0) line += fmt::format(", with {} time{} undecided", undecided, undecided == 1 ? "" : "s");
  }
  return line + (undecided == 0 ? "; every time is decided" : "");
}

/// How far equal code differed: the end of each interval that is farther from 1.
std::string noise_line(const CompareResult& result) {
  std::vector<double> away;
  std::string worst;
  for (const judge::Comparison& row : result.rows) {
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
  Measurement measurement(options, clock, err);
  if (!measurement.fault().empty()) {
    err << "bench: " << csv::printable(measurement.fault()) << '\n';
    return cli::kExitBadInput;
  }
  measurement.result.count_rules = count_rules;
  const End end = measurement.run();
  if (end == End::failed) return cli::kExitBadInput;
  if (measurement.rounds() == 0) {
    err << "bench: interrupted before the first round was whole: nothing was measured\n";
    return cli::kExitBadInput;
  }
  const bool is_noise = options.b.empty() && !options.is_counts_only;
  measurement.result.further_runs = rounds_line(measurement, end, options);
  const int code = report(options, measurement.result, measurement.problems, paint, out, err);
  if (is_noise) {
    const std::string noise = noise_line(measurement.result);
    (options.for_people() ? out : err) << (options.format == cli::Format::md ? render::escaped_lines(noise) : noise);
  }
  return code;
}

}  // namespace syscost::bench::commands
