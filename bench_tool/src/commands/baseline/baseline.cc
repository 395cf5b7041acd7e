// SPDX-License-Identifier: MIT
#include "commands/baseline/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ostream>
#include <set>
#include <utility>

#include "budgets/measures.h"
#include "commands/compare/count_rules.h"
#include "commands/shared/run_notes.h"
#include "commands/shared/window_notes.h"
#include "csv/run_files.h"
#include "csv/text.h"
#include "judge/baseline_windows.h"
#include "judge/several_processes.h"
#include "model/loader.h"
#include "model/programs.h"
#include "model/test_order.h"
#include "render/output_file.h"
#include "stats/summaries.h"

namespace syscost::bench::commands {
namespace {

/// The runs of all arguments as one.
model::Dataset load_all(const cli::Options& options, csv::Problems& problems) {
  csv::Run all{fmt::format("{}", fmt::join(options.runs, " ")), false, {}};
  all.is_folder = csv::add_files(all, options.runs, options.folders, problems);
  model::LoadOptions load;
  load.all_runs = options.all_runs;
  load.is_printable = true;  // so that no name holds what separates the fields
  load.keep_histograms = options.check.has_times;
  return model::load(std::move(all), load, problems);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> surroundings_of(const model::Dataset& data) {
  static constexpr std::array<std::pair<const char*, model::NameId model::Context::*>, 5> kFields = {
      {{"backend", &model::Context::backend},
       {"build type", &model::Context::build_type},
       {"filter", &model::Context::filter},
       {"kernel release", &model::Context::kernel_release},
       {"selection", &model::Context::selection}}};
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, field] : kFields) all.emplace_back(name, model::values_of(data, field));
  for (auto& fact : facts_to_remember(data)) all.push_back(std::move(fact));
  std::set<std::string> reordered;
  for (const auto& [program, test] : model::reordered_tests({&data})) reordered.insert(program);
  if (!reordered.empty()) all.emplace_back(kOrderSurrounding, fmt::format("{}", fmt::join(reordered, ", ")));
  if (std::string rules = inject_rules(data); !rules.empty()) all.emplace_back(kInjectSurrounding, std::move(rules));
  return all;
}

void add_classes(const stats::WindowSummary& window, model::Baseline& baseline) {
  for (const stats::SyscallSummary& one : window.syscalls) {
    if (!one.classes.empty()) baseline.classes.emplace(one.name.substr(0, one.name.find(' ')), one.classes);
  }
}

BaselineLock::BaselineLock(const std::string& path, int patience) {
  for (;;) {
    lock_.reset();
    file_ = open_regular(path.c_str(), O_NOFOLLOW);
    if (!file_.is_open()) return;  // nothing to lose
    lock_.emplace(file_.number(), patience);
    if (lock_->error() == EWOULDBLOCK) {
      fault_ = fmt::format("another process{} holds the lock of {}; end that process, or wait for its end",
                           lock_holder(file_.number()), csv::printable(path));
      return;
    }
    if (!lock_->is_held()) return;  // a file system without locks
    struct stat locked {};
    struct stat there {};
    const bool is_known = ::fstat(file_.number(), &locked) == 0 && ::lstat(path.c_str(), &there) == 0;
    // Another process may have put a new file there while this one waited.
    if (is_known && locked.st_dev == there.st_dev && locked.st_ino == there.st_ino) return;
  }
}

std::string write_baseline(const std::string& path, model::Baseline baseline) {
  const std::string text = model::to_text(std::move(baseline));
  csv::Problems problems;
  static_cast<void>(model::parse_baseline(path, text, problems));
  // For example, two tests may have names that are equal once invisible characters are escaped.
  if (!problems.empty()) {
    return fmt::format("{} is not written, because it could not be read back: {}", csv::printable(path),
                       problems.texts().front());
  }
  return render::write_output(path, {model::kBaselineTitle, "baseline of bench"}, text);
}

std::optional<model::Baseline> read_baseline(const std::string& path, csv::Problems& problems) {
  const std::optional<std::string> text = csv::read_text(path, problems);
  return text ? model::parse_baseline(path, *text, problems) : std::nullopt;
}

/// Runs in the files that were not taken, because each file stands for its newest one.
std::size_t runs_left_out(const model::Dataset& data) {
  std::set<model::NameId> taken;
  std::set<model::NameId> all;
  for (const model::Context& context : data.contexts) all.insert(context.run_id);
  for (const model::Sample& sample : data.samples) taken.insert(data.context(sample).run_id);
  return all.size() - taken.size();
}

int baseline_update(const cli::Options& options, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  // The next run is judged by them.
  judge::CountPolicy counts = options.counts;
  const std::string rules = add_rules_of_file({}, counts, problems).line;
  model::Dataset data = load_all(options, problems);
  const std::vector<model::Group> groups = model::group_samples(data, model::Tools::left_out);
  const std::vector<stats::WindowSummary> windows = stats::summarize_all(data, groups, true);
  model::Baseline baseline;
  baseline.surroundings = surroundings_of(data);
  WithoutCounts without_counts(options.check, options.runs.front(), problems);
  std::size_t cells = 0;
  std::size_t varying = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!windows[i].is_ours() || windows[i].is_plain) continue;
    const WithoutCounts::Answer answer = without_counts.decide(windows[i]);
    if (answer == WithoutCounts::Answer::refused) continue;
    add_classes(windows[i], baseline);
    baseline.windows.push_back(
        judge::to_baseline(windows[i], data.text(groups[i].program), model::base_name(data, groups[i])));
    if (options.check.has_times && answer == WithoutCounts::Answer::has_counts) {
      budgets::add_times(budgets::subject_of(data, groups[i], windows[i], true), baseline.windows.back());
    }
    for (const model::BaselineCell& cell : baseline.windows.back().cells) {
      if (cell.syscall.empty() || cell.is_time()) continue;
      ++cells;
      if (!cell.range.is_exact()) ++varying;
    }
  }
  if (!options.check.allows_failed) note_crashes(data, problems);
  const judge::FalseAlarms alarms = judge::false_alarms_of(data, groups, counts);
  baseline.runs = alarms.runs;
  if (alarms.is_known()) baseline.tests_that_departed = alarms.departed;
  if (baseline.windows.empty() && problems.empty()) {
    problems.add(options.runs.front(), 0, "holds no test with counts");
  }
  if (!problems.empty()) {
    problems.print(err);
    err << "bench: no baseline was written" << without_counts.advice() << '\n';
    return cli::kExitBadInput;
  }
  const std::size_t count = baseline.windows.size();
  const std::string left_out = model::left_out_text(baseline.windows);
  const BaselineLock lock(options.check.output);
  std::string fault = lock.fault();
  if (fault.empty()) fault = write_baseline(options.check.output, std::move(baseline));
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  out << fmt::format("wrote {}: {} window{} (tests, set-ups, loops), {} counts, {} run{}; {} counts vary\n",
                     csv::printable(options.check.output), count, count == 1 ? "" : "s", cells, alarms.runs,
                     alarms.runs == 1 ? "" : "s", varying)
      << alarms.text() << '\n'
      << without_counts.text() << left_out;
  if (const std::size_t older = runs_left_out(data); older > 0) {
    out << fmt::format("note: {} older run{} of {} left out; --all-runs takes all\n", older,
                       older == 1 ? " was" : "s were", options.runs.size() == 1 ? "the file" : "these files");
  }
  if (!rules.empty()) out << rules << '\n';
  const std::string unlike = judge::unlike_processes(counts, windows);
  if (!unlike.empty()) out << "warning: " << unlike << '\n';
  InjectedCalls injected;
  for (const stats::WindowSummary& window : windows) injected.add(window);
  if (!injected.text().empty()) out << injected.text() << "; the baseline has the counts with them\n";
  return cli::kExitOk;
}

WithoutCounts::Answer WithoutCounts::decide(const stats::WindowSummary& window) {
  const judge::BaselineFault fault = judge::fault_of(window);
  const std::string_view beside = beside_ == nullptr ? std::string_view() : judge::filter_of(*beside_);
  if (fault.text.empty() && beside_ != nullptr && beside != *window.filters.begin()) {
    if (!has_other_filter_) {
      problems_.add(source_, 0,
                    fmt::format("the filter is {}, and that of the baseline is {}; write a new baseline "
                                "(baseline update)",
                                stats::filter_text(window), beside.empty() ? "none" : beside));
    }
    has_other_filter_ = true;
    has_no_option_ = true;
    return Answer::refused;
  }
  if (fault.text.empty()) return Answer::has_counts;
  const bool is_allowed = (fault.allowed_by == judge::kAllowFailed && options_.allows_failed) ||
                          (fault.allowed_by == judge::kAllowLost && options_.allows_lost);
  if (is_allowed) {
    names_.push_back(window.name);
    return Answer::without_counts;
  }
  problems_.add(source_, 0, fmt::format("{} cannot be a baseline: {}", window.name, fault.text));
  if (fault.allowed_by.empty()) {
    has_no_option_ = true;
  } else {
    missing_options_.insert(fault.allowed_by);
  }
  return Answer::refused;
}

std::string WithoutCounts::advice() const {
  if (missing_options_.empty() || has_no_option_) return {};
  return fmt::format("; {} writes such tests without counts, and check does not judge them",
                     fmt::join(missing_options_, " "));
}

std::string WithoutCounts::text() const {
  constexpr std::size_t kMostNamed = 5;
  if (names_.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(names_.size(), kMostNamed); ++i) names += (i == 0 ? "" : ", ") + names_[i];
  if (names_.size() > kMostNamed) names += ", ...";
  const bool is_one = names_.size() == 1;
  return fmt::format("{} window{} without counts, which check does not judge: {}\n", names_.size(), is_one ? "" : "s",
                     csv::printable(names));
}

}  // namespace syscost::bench::commands
