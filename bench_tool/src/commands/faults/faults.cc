// SPDX-License-Identifier: MIT
#include "commands/faults/faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>

#include "commands/run/run_programs.h"
#include "commands/shared/command_runs.h"
#include "commands/shared/document.h"
#include "csv/text.h"
#include "faults/plan.h"
#include "faults/run_folder.h"
#include "faults/sweep.h"
#include "model/choice.h"
#include "render/table.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;
using faults::Outcome;

constexpr auto kBad = static_cast<std::size_t>(Outcome::ignored) + 1;  // the first five outcomes

/// How far a sweep is.
class SweepLine {
 public:
  explicit SweepLine(std::ostream& err) : line_(err) {}

  void show(const faults::SweepProgress& progress) {
    if (progress.is_learning != was_learning_ || !first_) first_ = progress.done;
    if (progress.is_learning != was_learning_) begin_s_ = monotonic_s();
    was_learning_ = progress.is_learning;
    std::string line = progress.is_learning
                           ? fmt::format("learning the calls of {} of {} tests", progress.done, progress.all)
                           : fmt::format("{} of {} failures, {} to look at", progress.done, progress.all, progress.bad);
    const std::size_t done = progress.done - *first_;
    if (done > 0) {
      const double each_s = (monotonic_s() - begin_s_) / static_cast<double>(done);
      line +=
          fmt::format("; about {:.0f} s left", std::ceil(each_s * static_cast<double>(progress.all - progress.done)));
    }
    line_.show(line);
  }

 private:
  ProgressLine line_;
  double begin_s_ = monotonic_s();
  bool was_learning_ = true;
  std::optional<std::size_t> first_;
};

/// The program of a command: as it stands if it has a slash, else from PATH. Empty if there is none.
std::string path_of(const std::string& program) {
  std::error_code error;
  if (program.find('/') != std::string::npos) return fs::absolute(program, error).lexically_normal();
  const char* const path = ::getenv("PATH");
  std::string_view left = path != nullptr ? path : "";
  while (!left.empty()) {
    const std::string_view folder = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(left.size(), folder.size() + 1));
    const fs::path found = fs::path(folder) / program;
    if (::access(found.c_str(), X_OK) == 0) return fs::absolute(found, error);
  }
  return {};
}

std::string fail_on_fault(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "any" || faults::outcome_of(word)) continue;
    std::vector<std::string> known(faults::kOutcomeWords.begin(), faults::kOutcomeWords.end());
    known.emplace_back("any");
    return fmt::format("--fail-on: there is no outcome \"{}\"{}; there are {}", word, model::or_rather(word, known),
                       fmt::join(known, ", "));
  }
  return {};
}

bool is_red(const cli::Options& options, const SweepTable& table) {
  std::set<std::size_t> on;
  for (const std::string& word : options.faults.fail_on) {
    for (std::size_t i = 0; word == "any" && i < kBad; ++i) on.insert(i);
    if (const auto outcome = faults::outcome_of(word)) on.insert(static_cast<std::size_t>(*outcome));
  }
  return std::any_of(on.begin(), on.end(), [&](std::size_t i) {
    const bool is_crash = i == static_cast<std::size_t>(Outcome::crashed);
    return table.counts[i] > 0 || (is_crash && table.child_crashes > 0);
  });
}

faults::SweepOptions sweep_options(const cli::Options& options, const std::string& runner) {
  const cli::FaultsOptions& own = options.faults;
  faults::SweepOptions sweep;
  sweep.runner = runner;
  sweep.command = options.a;
  sweep.command.front() = path_of(options.a.front());
  if (!own.framework.empty()) {
    sweep.framework = own.framework == "catch2"    ? faults::Framework::catch2
                      : own.framework == "doctest" ? faults::Framework::doctest
                                                   : faults::Framework::googletest;
  }
  sweep.folder = own.folder == "copy"    ? faults::WorkingFolder::copy
                 : own.folder == "here"  ? faults::WorkingFolder::here
                 : own.folder == "links" ? faults::WorkingFolder::links
                                         : faults::WorkingFolder::bounded_copy;
  sweep.has_own_tmp = own.has_own_tmp;
  sweep.jobs = own.jobs;
  sweep.timeout = std::chrono::seconds(own.timeout_s);
  sweep.has_lines = !own.has_no_lines;
  sweep.tests = model::TestChoice(options.tests);
  sweep.plan = {own.calls, own.errors, own.is_lasting, own.has_every_call || own.has_no_lines, own.sample, own.seed};
  return sweep;
}

std::string options_fault(const cli::Options& options) {
  std::string fault = fail_on_fault(options.faults.fail_on);
  if (fault.empty()) fault = faults::selector_fault(options.faults.calls);
  for (const std::string& error : options.faults.errors) {
    if (fault.empty() && !faults::error_fault(error).empty()) fault = "--errnos: " + faults::error_fault(error);
  }
  return fault;
}

/// Prints the sweep in the format that was asked for.
std::string rendered(const faults::SweepState& state, const cli::Options& options, const render::Paint& paint,
                     const model::TestLocations& locations) {
  if (options.report == cli::Report::github) return render::github_commands(sweep_ci(state, locations));
  return commands::rendered(
      {.json = [&] { return sweep_json(state); },
       .csv = [&] { return sweep_csv(state); },
       .markdown =
           [&] { return render::capped_markdown(sweep_markdown(state, options), most_bytes(options, kStepBytes)); },
       .text = [&] { return sweep_text(state, options, paint); }},
      options);
}

/// Runs the sweep. `harm`: what it did to what is not its own. Returns the fault, or "".
std::string run_sweep(const cli::Options& options, faults::SweepState& state, bool& was_interrupted,
                      std::vector<std::string>& harm, std::ostream& err) {
  const std::string runner = runner_path();
  if (runner.empty() || ::access(runner.c_str(), X_OK) != 0) return no_runner(runner, "bench faults", errno);
  faults::SweepOptions sweep = sweep_options(options, runner);
  if (sweep.command.front().empty()) return fmt::format("{}: no such program in PATH", options.a.front());
  if (::access(sweep.command.front().c_str(), X_OK) != 0) {
    return fmt::format("{}: {}", options.a.front(), std::generic_category().message(errno));
  }
  if (std::string fault = faults::words_fault(sweep.runner, sweep.plan); !fault.empty()) return fault;
  std::error_code unknown;
  const fs::path real = fs::canonical(sweep.command.front(), unknown);
  const fs::path tmp = faults::real_tmp();
  for (const fs::path& path : {real, fs::current_path(unknown)}) {
    const fs::path below = path.lexically_relative(tmp);
    if (!sweep.has_own_tmp || below.empty() || *below.begin() == "..") continue;
    return fmt::format("--private-tmp hides all that is in /tmp, and {} is there; leave the option out, or move it",
                       path.string());
  }
  const faults::SweepIdentity identity = faults::identity_of(sweep);
  faults::StateFile file;
  if (!options.faults.state.empty()) {
    if (std::string fault = file.open(options.faults.state, state); !fault.empty()) return fault;
  }
  if (state.identity == faults::SweepIdentity()) {
    state.identity = identity;
    file.begin(identity);
  } else if (!(state.identity == identity)) {
    return fmt::format(
        "{} is of another sweep: its command, its program's file or its options differ\n"
        "  there: {} ({}); {}\n  now:   {} ({}); {}\nName another file, or remove this one.",
        options.faults.state, csv::printable(fmt::format("{}", fmt::join(state.identity.command, " "))),
        csv::printable(state.identity.program), csv::printable(state.identity.options),
        fmt::join(identity.command, " "), identity.program, identity.options);
  }
  const InterruptRequest interrupt;
  SweepLine line(err);
  faults::Sweep running(
      std::move(sweep), &InterruptRequest::is_made, [&](const faults::SweepProgress& progress) { line.show(progress); },
      file, state);
  std::string fault = running.run();
  was_interrupted = running.is_interrupted();
  harm = running.harm();
  return fault;
}

}  // namespace

int faults_command(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  const auto refuse = [&](const std::string& fault) {
    err << "bench: " << csv::printable_lines(fault) << '\n';
    return cli::kExitBadInput;
  };
  if (options.faults.lists_errors) {
    out << call_errors_text();
    return cli::kExitOk;
  }
  if (const std::string fault = options_fault(options); !fault.empty()) return refuse(fault);
  model::TestLocations locations;
  for (const std::string& path : options.locations) {
    if (const std::string fault = locations.load(path); !fault.empty()) return refuse(fault);
  }
  faults::SweepState state;
  bool was_interrupted = false;
  std::vector<std::string> harm;
  const std::string fault = options.a.empty() ? faults::load_state(options.faults.state, state)
                                              : run_sweep(options, state, was_interrupted, harm, err);
  if (!fault.empty()) return refuse(fault);
  const bool has_test = std::any_of(state.tests.begin(), state.tests.end(),
                                    [](const faults::LearnedTest& test) { return test.why_left_out.empty(); });
  if (!has_test && !was_interrupted) {
    std::string reasons = "no test passes when it runs alone, so no failure can be judged";
    for (std::size_t i = 0; i < std::min<std::size_t>(state.tests.size(), 5); ++i) {
      reasons +=
          fmt::format("\n  {}: {}", csv::printable(state.tests[i].name), csv::printable(state.tests[i].why_left_out));
    }
    return refuse(reasons + "\nIf the tests need files by a path from the working directory: --cwd here, or copy.");
  }
  out << rendered(state, options, paint, locations);
  if (was_interrupted) {
    const std::string& file = options.faults.state;
    err << "bench: interrupted: the results are those so far"
        << (file.empty() ? "\n" : fmt::format("; the same command goes on with {}\n", csv::printable(file)));
  }
  const SweepTable table = table_of(state);
  const bool has_harm = !harm.empty() && options.faults.folder != "here";
  if (has_harm) {
    err << "bench: during the sweep, and not while no call failed, this changed, which is not the sweep's own:\n";
    for (const std::string& line : harm) err << "  " << csv::printable(line) << '\n';
    err << "A run has copies of the files in this folder. So the tests name these files by an absolute path, or got "
           "links\nto them, because they are too large to be copied for each run (--cwd copy copies all); or another "
           "program\nchanged them. To know, run the sweep with --cwd copy in a folder that no other program writes to. "
           "What is left\nbehind is yours to unmount and remove.\n";
  }
  if (is_red(options, table)) return cli::kExitRegression;
  if (has_harm) return cli::kExitBadInput;
  if (const std::string reason = why_untried(state, table); !reason.empty() && !was_interrupted) return refuse(reason);
  const bool is_whole = state.plan && state.done.size() == state.plan->failures;
  return is_whole ? cli::kExitOk : cli::kExitNoVerdict;
}

}  // namespace syscost::bench::commands
