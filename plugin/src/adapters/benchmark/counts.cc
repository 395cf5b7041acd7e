// SPDX-License-Identifier: MIT
#include "adapters/benchmark/counts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "adapters/names/in_a_file.h"
#include "libc/symbols.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

/// Calls, or entries where the backend knows no more: what column `total_calls` (`total_entries`) is the sum of, so
/// that the counters, the CSV and bench have one number. A thread's `exit` is an entry that no call came back from.
std::uint64_t calls_of(const Cost& cost, const std::string& name) {
  const Unavailable* why_no_calls = cost.calls("*").unavailable();
  const bool knows_calls = why_no_calls == nullptr || !why_no_calls->is_beyond_backend;
  std::uint64_t calls = 0;
  for (const SyscallCost& syscall : cost.syscalls()) {
    if (!name.empty() && syscall.name != name) continue;
    calls += knows_calls ? syscall.calls : syscall.entries;
  }
  return calls;
}

Figure figure_of_syscall(const std::vector<const Pass*>& passes, const std::string& name) {
  std::vector<std::uint64_t> iterations;
  std::vector<std::uint64_t> counts;
  for (const Pass* pass : passes) {
    iterations.push_back(pass->iterations);
    counts.push_back(calls_of(pass->cost, name));
  }
  return adapter::figure_of(iterations, counts);
}

}  // namespace

std::vector<const Pass*> shorter_passes(const Record& record) {
  std::vector<const Pass*> passes;
  const std::size_t growing = record.passes.size() - std::max<std::size_t>(record.repetitions, 1);
  for (std::size_t i = 1; i < growing; ++i) passes.push_back(&record.passes[i]);
  return passes;
}

std::optional<Figures> figures_of(const Record& record) {
  if (record.why_not.has_value() || record.passes.empty() || record.passes.back().iterations == 0) return std::nullopt;
  std::vector<const Pass*> passes = shorter_passes(record);
  passes.push_back(&record.passes.back());
  for (const Pass* pass : passes) {
    // Where events were lost there are only lower bounds.
    if (!pass->cost.available() || pass->cost.lost().value_or(1) != 0) return std::nullopt;
  }
  Figures figures;
  figures.all = figure_of_syscall(passes, std::string());
  for (const SyscallCost& syscall : passes.back()->cost.syscalls()) {
    if (calls_of(passes.back()->cost, syscall.name) == 0) continue;
    figures.by_syscall.push_back({syscall.name, figure_of_syscall(passes, syscall.name)});
  }
  return figures;
}

namespace {

/// How many repetitions of a name have numbers, in all calls of RunSpecifiedBenchmarks() together.
std::uint64_t& taken_repetitions(const std::string& name) {
  static auto* const taken = new std::map<std::string, std::uint64_t>;
  return (*taken)[names::in_a_file(name)];
}

/// None for what is no time. A benchmark with UseManualTime() gives its times itself, and a clock may step back.
std::optional<std::uint64_t> nanoseconds(double seconds) {
  constexpr double kMost = 1e9;  // seconds: 31 years, far below 2^63 ns
  if (!(seconds >= 0 && seconds <= kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(seconds * 1e9 + 0.5);
}

std::string text_of(double seconds) {
  std::array<char, 32> text{};
  SYSCOST_LIBC(snprintf)(text.data(), text.size(), "%.9g", seconds);
  return text.data();
}

}  // namespace

void Counts::add(Record record, std::size_t before) {
  Entry entry;
  entry.figures = figures_of(record);
  entry.record = std::move(record);
  if (entry.record.key.has_value()) {
    by_key_.insert_or_assign(*entry.record.key, std::move(entry));
  } else {
    by_name_.insert_or_assign({entry.record.name, before}, std::move(entry));
  }
}

const Counts::Entry* Counts::find(const TimedRun& run) {
  // Keys of one name come in order: where they do not, only names that are borne once have records without a key.
  std::set<Key>& seen = seen_[run.name];
  const auto its = seen.insert(run.key).first;
  const auto before = static_cast<std::size_t>(std::distance(seen.begin(), its));
  if (const auto at = by_key_.find(*its); at != by_key_.end()) return &at->second;
  const auto at = by_name_.find({run.name, before});
  return at == by_name_.end() ? nullptr : &at->second;
}

const Figures* Counts::figures(const TimedRun& run) {
  const Entry* entry = find(run);
  return entry != nullptr && entry->figures.has_value() ? &*entry->figures : nullptr;
}

const Pass* Counts::pass_of(const Record& record, std::size_t repetition, std::size_t repetitions) {
  if (record.why_not.has_value() || record.repetitions > record.passes.size()) return nullptr;
  // Those it counted beyond what is timed came first, to warm up.
  const std::size_t warm_up = record.repetitions > repetitions ? record.repetitions - repetitions : 0;
  const std::size_t index = record.passes.size() - record.repetitions + warm_up + repetition;
  return index < record.passes.size() ? &record.passes[index] : nullptr;
}

/// Benchmarks of one name, in one call of RunSpecifiedBenchmarks() or in several, are repetitions of one: rows of one
/// number would be taken for one row, and the later ones for copies.
std::uint64_t Counts::first_repetition(const TimedRun& run, std::uint64_t repetitions) {
  const auto [at, is_new] = first_repetitions_.emplace(run.key, 0);
  if (is_new) {
    std::uint64_t& taken = taken_repetitions(run.name);
    at->second = std::exchange(taken, taken + repetitions);
  }
  return at->second;
}

void Counts::explain_missing(const Entry& entry, const TimedRun& run) {
  if (!explained_.insert(run.key).second) return;
  const Unavailable why = entry.record.why_not.value_or(
      Unavailable{"Events were lost while it was counted, or more repetitions were timed than counted.", ""});
  adapter::note_missing_counts({"benchmark " + run.name + " has no counts: " + why.reason, why.how_to_fix});
}

void Counts::say_no_time(const TimedRun& run) {
  if (!said_no_time_.insert(run.key).second) return;
  adapter::say("benchmark " + run.name + " took " + text_of(run.real_seconds) +
               " s by its own times, which is no time: its wall_ns is empty");
}

void Counts::write_rows(const std::vector<TimedRun>& runs, bool is_last_reporter) {
  std::vector<std::string> names;
  names.reserve(runs.size());
  std::vector<adapter::TimedRepetition> rows;
  for (const TimedRun& run : runs) {
    const bool is_timed = run.is_repetition;
    // Without --benchmark_report_aggregates_only its repetitions came before it, or come to the next reporter.
    const bool stands_for_all =
        is_last_reporter && !is_timed && run.aggregate_name == "mean" && written_.count({run.key, 0}) == 0;
    if (!is_timed && !stands_for_all) continue;
    const std::int64_t repetition = is_timed ? run.repetition : 0;
    if (!written_.insert({run.key, repetition}).second) continue;
    const Entry* entry = find(run);
    const auto repetitions = static_cast<std::uint64_t>(is_timed ? std::max<std::int64_t>(run.repetitions, 1) : 1);
    names.push_back(run.name);
    adapter::TimedRepetition& row = rows.emplace_back();
    row.test = names.back();
    row.repetition = first_repetition(run, repetitions) + static_cast<std::uint64_t>(repetition);
    row.outcome = run.outcome;
    if (!run.has_passed()) continue;
    if (is_timed) {
      row.iterations = run.iterations;
      row.wall_ns = nanoseconds(run.real_seconds);
      row.cpu_ns = nanoseconds(run.cpu_seconds);
      if (!row.wall_ns.has_value()) say_no_time(run);
    }
    if (entry == nullptr) continue;  // the reason was said when the counting process ended (timing.h)
    const Pass* pass = pass_of(entry->record, static_cast<std::size_t>(repetition), repetitions);
    if (pass != nullptr) {
      row.counted_iterations = pass->iterations;
      row.cost = &pass->cost;
      for (const Pass* shorter : shorter_passes(entry->record))
        row.shorter.push_back({shorter->iterations, &shorter->cost});
    }
    if (pass == nullptr || !entry->figures.has_value()) explain_missing(*entry, run);
  }
  adapter::write_rows(rows);
}

}  // namespace syscost::benchmark_adapter
