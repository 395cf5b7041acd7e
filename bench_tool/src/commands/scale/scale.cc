// SPDX-License-Identifier: MIT
#include "commands/scale/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "csv/problems.h"
#include "csv/run_files.h"
#include "csv/text.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "render/table.h"

namespace syscost::bench::commands {
namespace {

model::LoadOptions load_options(const cli::Options& options) {
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = options.all_runs || options.scales_by_label;
  load.is_history = options.scales_by_label;
  load.is_printable = options.is_printable();
  load.tests = model::TestChoice(options.tests);
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  return load;
}

/// The RUN arguments as datasets: one each; with --label all runs of all of them in one.
std::vector<ScaledRun> load_scaled_runs(const cli::Options& options, csv::Problems& problems) {
  const model::LoadOptions load = load_options(options);
  std::vector<ScaledRun> runs;
  if (!options.scales_by_label) {
    for (const std::string& path : options.runs) runs.push_back({model::load(path, load, problems), {}});
    return runs;
  }
  csv::Run all{options.runs.front(), false, {}};
  csv::add_files(all, options.runs, options.folders, problems);
  runs.push_back({model::load(std::move(all), load, problems), {}});
  return runs;
}

const char* how_to_get_families(bool by_label) {
  return by_label ? "Give runs with --syscost_label size=64, --syscost_label size=128, ... of one program.\n"
                  : "Tests are of one family if only numbers in their names differ: BM_Copy/64, BM_Copy/128 or "
                    "Sizes/Copy.Works/4096. For runs with labels size=64, size=128, ... give --label.\n";
}

}  // namespace

int scale_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  std::vector<ScaledRun> runs;
  for (ScaledRun& run : load_scaled_runs(options, problems)) {
    const std::vector<model::Group> groups = model::group_samples(run.data, model::Tools::left_out);
    if (groups.empty()) {
      note_no_test(run.data, model::TestChoice(options.tests), problems);
      continue;
    }
    run.families = scale::families_of(run.data, groups, {options.scales_by_label, true});
    if (run.families.empty()) {
      problems.print(err);
      err << "bench: " << csv::printable(run.data.name) << " has no family of tests with different sizes\n"
          << how_to_get_families(options.scales_by_label);
      return cli::kExitBadInput;
    }
    runs.push_back(std::move(run));
  }
  const auto all = [&](auto render) { return one_below_the_other(runs, render); };
  return print({.json = [&] { return runs.empty() ? "" : scale_json(runs); },
                .csv = [&] { return runs.empty() ? "" : scale_csv(runs); },
                .markdown =
                    [&] {
                      const std::string text = all([&](const ScaledRun& run) { return scale_markdown(run); });
                      return text.empty() ? text : render::capped_markdown(text, most_bytes(options, kStepBytes));
                    },
                .text = [&] { return all([&](const ScaledRun& run) { return scale_text(run, options, paint); }); }},
               options, problems, out, err);
}

// The text about a law, in every format: the law, or why there is none.

namespace {

using scale::Family;
using scale::LawRow;
using scale::Solution;

/// So many counts show that there is no law.
constexpr std::size_t kFewCounts = 4;

/// The count as measured. A mean over iterations may be a fraction such as 1503/131; it is printed with three places.
std::string count_text(const scale::Rational& count) {
  constexpr std::int64_t kLargestDivisor = 16;  // 1/3 reads better than 0.333
  std::string text = scale::text_of(count);
  return count.den > kLargestDivisor && text.find('/') != std::string::npos ? fmt::format("{:.3f}", count.value())
                                                                            : text;
}

/// `n/a: one step, 0 to 1 at n = 1048576`: counts that change once, as those of an allocator do at its threshold; ""
/// for others.
std::string step_text(const Family& family, const LawRow& row) {
  constexpr std::size_t kFewest = 3;
  const std::vector<scale::Rational>& values = row.counts.values;
  if (family.has_two || values.size() < kFewest) return {};
  const auto other = std::find_if(values.begin(), values.end(), [&](const auto& one) { return one != values.front(); });
  if (other == values.end()) return {};
  if (std::any_of(other, values.end(), [&](const auto& one) { return one != *other; })) return {};
  return fmt::format("n/a: one step, {} to {} at {}", count_text(values.front()), count_text(*other),
                     scale::size_text(family, row.counts.sizes[static_cast<std::size_t>(other - values.begin())]));
}

std::string too_few_text(const Family& family, const LawRow& row) {
  const scale::Law& law = row.solved.law;
  const std::size_t sizes = row.counts.sizes.size();
  std::string text =
      fmt::format("n/a: {} sizes are too few for {}", sizes, scale::text_of(law, family.names, family.are_powers));
  // Chance has no meaning where any counts would have this law.
  if (row.solved.has_enough_counts) text += fmt::format(" (chance {:.0f} %)", std::max(1.0, 100 * row.solved.chance));
  return text;
}

std::string no_law_text(const Family& family, const LawRow& row) {
  const auto size = [&](std::size_t point) { return scale::size_text(family, row.counts.sizes[point]); };
  if (row.solved.has_candidate && !row.solved.breaks.empty()) {
    std::string text = "no law: " + scale::text_of(row.solved.law, family.names, family.are_powers) + ", but";
    for (std::size_t i = 0; i < std::min(row.solved.breaks.size(), kFewCounts); ++i) {
      const scale::Break& one = row.solved.breaks[i];
      text += fmt::format("{} {} at {}, not {}", i == 0 ? "" : ",", count_text(row.counts.values[one.point]),
                          size(one.point), count_text(one.expected));
    }
    return row.solved.breaks.size() > kFewCounts ? text + ", ..." : text;
  }
  std::string text = "no law:";
  for (std::size_t i = 0; i < std::min(row.counts.sizes.size(), kFewCounts); ++i) {
    text += fmt::format("{} {} at {}", i == 0 ? "" : ",", count_text(row.counts.values[i]), size(i));
  }
  return row.counts.sizes.size() > kFewCounts ? text + ", ..." : text;
}

}  // namespace

std::string law_cell(const Family& family, const LawRow& row) {
  if (!row.reason.empty()) return (row.counts.varies ? "no law: " : "n/a: ") + row.reason;
  if (row.has_law()) return scale::text_of(row.solved.law, family.names, family.are_powers);
  if (std::string step = step_text(family, row); !step.empty()) return step;
  switch (row.solved.solution) {
    case Solution::law:
      break;
    case Solution::too_few:
      return too_few_text(family, row);
    case Solution::no_law:
      return no_law_text(family, row);
  }
  return {};
}

std::string_view status_of(const LawRow& row) {
  if (!row.reason.empty()) return row.counts.varies ? "varies" : "not_measured";
  return row.solved.solution == Solution::law ? "law" : row.solved.solution == Solution::too_few ? "too_few" : "no_law";
}

std::vector<Amortised> amortised_of(const Family& family) {
  std::vector<Amortised> all;
  const auto add = [&](Amortised one) {
    one.tenth_from = scale::n_where_fixed_is(0.1, one.fixed, one.growing, one.curve);
    one.hundredth_from = scale::n_where_fixed_is(0.01, one.fixed, one.growing, one.curve);
    all.push_back(std::move(one));
  };
  for (const LawRow& row : family.rows) {
    if (!row.has_law() || row.solved.law.c.num <= 0) continue;
    const auto growth = scale::growth_per_n(row.solved.law);
    if (growth.value_or(0) <= 0) continue;
    const double fixed = row.solved.law.c.value();
    add({row.title(), false, row.column->name, fixed, fixed, fixed, *growth, scale::Complexity::linear, 0, 0});
  }
  for (const scale::TimeRow& row : family.times) {
    if (!row.fixed || !row.fixed->has_both()) continue;
    add({std::string(row.title), true, "ns", row.fixed->fixed_ns, row.fixed->fixed_low_ns, row.fixed->fixed_high_ns,
         row.fixed->growing_ns, row.fixed->complexity, 0, 0});
  }
  return all;
}

}  // namespace syscost::bench::commands
