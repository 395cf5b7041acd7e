// SPDX-License-Identifier: MIT
#include "adapters/benchmark/annotator.h"

#include <cmath>
#include <cstring>
#include <string>

#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

/// Counters for so many syscalls of a benchmark, under --syscost_profile syscalls.
constexpr std::size_t kNamedSyscalls = 5;

Key key_of(const Run& run) {
  return {run.family_index, run.per_family_instance_index};
}

/// Median and mean are of times; spreads of them are not of counts.
bool shows_counters(const Run& run) {
  return run.run_type == Run::RT_Iteration || run.aggregate_name == "mean" || run.aggregate_name == "median";
}

void add_counters(Run& run, const Figures& figures) {
  run.counters["syscalls"] = ::benchmark::Counter(figures.all.per_iteration);
  if (figures.all.fixed.value_or(0) > 0) {
    run.counters["syscalls_fixed"] = ::benchmark::Counter(static_cast<double>(*figures.all.fixed));
  }
  if (!adapter::prints_lines()) return;
  std::size_t shown = 0;
  for (const Figures::Named& syscall : figures.by_syscall) {
    if (++shown > kNamedSyscalls) break;
    run.counters["sys_" + syscall.name] = ::benchmark::Counter(syscall.figure.per_iteration);
  }
}

}  // namespace

void Counts::add(Record record) {
  const Key key = record.key;
  if (std::optional<Figures> figures = figures_of(record)) figures_.emplace(key, std::move(*figures));
  records_.insert_or_assign(key, std::move(record));
}

const Record* Counts::find(const Key& key) const {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &at->second;
}

const Figures* Counts::figures(const Key& key) const {
  const auto at = figures_.find(key);
  return at == figures_.end() ? nullptr : &at->second;
}

const Pass* Counts::pass_of(const Record& record, std::size_t repetition, std::size_t repetitions) {
  if (record.why_not.has_value() || record.repetitions > record.passes.size()) return nullptr;
  // Those it counted beyond what is timed came first, to warm up.
  const std::size_t warm_up = record.repetitions > repetitions ? record.repetitions - repetitions : 0;
  const std::size_t index = record.passes.size() - record.repetitions + warm_up + repetition;
  return index < record.passes.size() ? &record.passes[index] : nullptr;
}

void Counts::explain_missing(const Record* record, const Run& run) {
  if (record == nullptr || !explained_.insert(key_of(run)).second) return;  // or said for all that are left
  const Unavailable why = record->why_not.value_or(
      Unavailable{"Events were lost while it was counted, or more repetitions were timed than counted.", ""});
  adapter::note_problem({"benchmark " + run.run_name.str() + " has no counts: " + why.reason, why.how_to_fix});
}

void Counts::write_rows(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  names.reserve(runs.size());
  std::vector<adapter::TimedRepetition> rows;
  for (const Run& run : runs) {
    const bool is_timed = run.run_type == Run::RT_Iteration;
    // Without --benchmark_report_aggregates_only its repetitions came before it.
    const bool stands_for_all = !is_timed && run.aggregate_name == "mean" && written_.count({key_of(run), 0}) == 0;
    if (!is_timed && !stands_for_all) continue;
    const std::int64_t repetition = is_timed ? run.repetition_index : 0;
    if (!written_.insert({key_of(run), repetition}).second) continue;
    const Record* record = find(key_of(run));
    names.push_back(run.run_name.str());
    adapter::TimedRepetition& row = rows.emplace_back();
    row.test = names.back();
    row.repetition = static_cast<std::uint64_t>(repetition);
    row.outcome = outcome_of(run);
    if (std::strcmp(outcome_of(run), "passed") != 0) continue;
    if (is_timed) {
      row.iterations = static_cast<std::uint64_t>(run.iterations);
      row.wall_ns = static_cast<std::uint64_t>(std::llround(run.real_accumulated_time * 1e9));
    }
    const Pass* pass = record == nullptr ? nullptr
                                         : pass_of(*record, static_cast<std::size_t>(repetition),
                                                   static_cast<std::size_t>(is_timed ? run.repetitions : 1));
    if (pass != nullptr) {
      row.counted_iterations = pass->iterations;
      row.cost = &pass->cost;
    }
    if (pass == nullptr || figures(key_of(run)) == nullptr) explain_missing(record, run);
  }
  adapter::write_rows(rows);
}

Annotator::Annotator(Reporter& inner, Counts& counts, bool shows) : inner_(inner), counts_(counts), shows_(shows) {
  SetOutputStream(&inner.GetOutputStream());
  SetErrorStream(&inner.GetErrorStream());
}

bool Annotator::ReportContext(const Context& context) {
  // Google Benchmark has set ours where the file is; setting them is not virtual.
  inner_.SetOutputStream(&GetOutputStream());
  inner_.SetErrorStream(&GetErrorStream());
  return inner_.ReportContext(context);
}

void Annotator::ReportRunsConfig(double min_time, bool has_iterations, ::benchmark::IterationCount iterations) {
  forward_config(inner_, min_time, has_iterations, iterations, 0);
}

void Annotator::ReportRuns(const std::vector<Run>& runs) {
  counts_.write_rows(runs);
  std::vector<Run> annotated = runs;
  for (Run& run : annotated) {
    const Figures* figures = counts_.figures(key_of(run));
    if (!shows_ || figures == nullptr || !shows_counters(run) || std::strcmp(outcome_of(run), "passed") != 0) continue;
    add_counters(run, *figures);
  }
  inner_.ReportRuns(annotated);
}

void Annotator::Finalize() {
  inner_.Finalize();
}

}  // namespace syscost::benchmark_adapter
