// SPDX-License-Identifier: MIT
#include <array>
#include <random>
#include <string>

#include "judge/verdict.h"
#include "model/dataset.h"
#include "simulation.h"
#include "stats/window_summary.h"

namespace syscost::bench::simulation {
namespace {

using model::Measured;

struct Call {
  const char* syscall;
  const char* classes;
  std::uint64_t calls;
  std::uint64_t errors = 0;
};

/// The calls that the same test makes each time, and those that chance adds.
struct Body {
  std::uint64_t opens = 0;
  std::uint64_t writes = 0;
  std::uint64_t fstats = 0;  ///< Often 0: then it adds no row.
};

model::Dataset run(const Body& body, CallChange change, std::size_t repetitions, std::mt19937_64& random) {
  const bool has_threads = change == CallChange::added_with_threads || change == CallChange::replaced_by_volatile;
  std::uniform_int_distribution<std::uint64_t> waits(has_threads ? 0 : 20, has_threads ? 40 : 20);
  std::uniform_int_distribution<std::uint64_t> polls(10, 12);
  std::uniform_int_distribution<std::size_t> which(0, repetitions - 1);
  const std::size_t marked = which(random);
  const bool adds_write = change == CallChange::added_to_a_syscall || change == CallChange::added_with_threads;
  model::Dataset data;
  model::Context context;
  context.run_id = data.names.intern("run");
  context.program = data.names.intern("tests");
  data.contexts.push_back(context);
  for (std::size_t i = 0; i < repetitions; ++i) {
    const bool adds =
        change == CallChange::added_a_syscall || (change == CallChange::added_in_one_sample && i == marked);
    const std::array<Call, 6> calls = {{
        {"openat", "file;desc", body.opens, change == CallChange::added_errno ? std::uint64_t{1} : 0},
        {"write", "desc", body.writes + (adds_write ? 1 : 0)},
        {"fstat", "desc", body.fstats},
        {"fsync", "desc", std::uint64_t{adds ? 1U : 0U}},
        {"poll", "desc;wait", polls(random)},
        {"futex", "wait;volatile", waits(random) + (change == CallChange::replaced_by_volatile ? 1000 : 0)},
    }};
    model::Sample sample;
    sample.repetition = static_cast<std::uint32_t>(i);
    sample.kind = data.names.intern("test");
    sample.test = data.names.intern("Suite.Test");
    sample.origin = data.names.intern("syscost");
    sample.totals_line = 1;
    sample.totals.outcome = data.names.intern("passed");
    std::uint64_t total = 0;
    std::uint64_t errors = 0;
    for (const Call& call : calls) {
      if (call.calls == 0) continue;
      model::SyscallRow row;
      row.sample = static_cast<std::uint32_t>(i);
      row.syscall = data.names.intern(call.syscall);
      row.classes = data.names.intern(call.classes);
      row.calls = Measured(call.calls);
      row.errors = Measured(call.errors);
      row.by_started_threads =
          Measured(std::uint64_t{has_threads && call.syscall == std::string_view("futex") ? 1U : 0U});
      row.by_older_threads = Measured(std::uint64_t{0});
      if (call.errors != 0) row.errnos = data.names.intern("ENOENT:" + std::to_string(call.errors));
      data.rows.append(row);
      total += call.calls;
      errors += call.errors;
    }
    sample.totals.calls = Measured(total);
    sample.totals.errors = Measured(errors);
    data.samples.push_back(sample);
  }
  data.index();
  return data;
}

}  // namespace

std::string_view to_string(CallChange change) {
  static constexpr std::array<std::string_view, 7> kNames = {"nothing changed",
                                                             "one more call",
                                                             "one more, several threads",
                                                             "one call of a new syscall",
                                                             "the same, in one repetition",
                                                             "one call fails, new errno",
                                                             "only futex calls changed"};
  return kNames[static_cast<std::size_t>(change)];
}

std::size_t simulate_counts(CallChange change, std::size_t comparisons, std::size_t repetitions, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::uint64_t> several(1, 2000);
  std::uniform_int_distribution<std::uint64_t> few(0, 3);
  std::size_t regressed = 0;
  for (std::size_t i = 0; i < comparisons; ++i) {
    const Body body{several(random), several(random), few(random)};
    model::Dataset old_data = run(body, CallChange::none, repetitions, random);
    model::Dataset new_data = run(body, change, repetitions, random);
    const auto old_window = stats::summarize(old_data, model::group_samples(old_data).front(), true);
    const auto new_window = stats::summarize(new_data, model::group_samples(new_data).front(), true);
    std::vector<judge::Comparison> row = {judge::compare_windows(&old_window, &new_window, {})};
    judge::decide_doubts(row);
    regressed += row.front().verdict == judge::Verdict::regressed ? 1 : 0;
  }
  return regressed;
}

}  // namespace syscost::bench::simulation
