// SPDX-License-Identifier: MIT
#include "fuzz_reader.h"

#include <algorithm>
#include <string_view>

#include "csv/reader.h"
#include "judge/verdict.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "require.h"
#include "stats/latency.h"
#include "stats/window_summary.h"

namespace syscost::bench::fuzz {
namespace {

using syscost::fuzz::require;

}  // namespace

void read_any_bytes(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  // Every line after the header is a row that was handed out, or a problem.
  csv::Problems reading;
  std::size_t rows = 0;
  csv::read_csv_text(
      "fuzz", text,
      [&](const csv::Row& row) {
        ++rows;
        for (std::size_t i = 0; i < schema::kColumnCount; ++i) {
          const std::string_view cell = row.text(static_cast<schema::Column>(i));
          require(cell.size() <= text.size(), "a cell is a part of its row");
        }
        return std::string();
      },
      reading);
  std::size_t lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (!text.empty() && text.back() != '\n') ++lines;
  if (rows != 0) require(rows + reading.count() == lines - 1, "no line is dropped silently");

  csv::Problems problems;
  model::LoadOptions options;
  options.all_runs = true;
  options.keep_histograms = true;
  model::Dataset dataset = model::load_text("fuzz", text, options, problems);
  for (const model::Group& group : model::group_samples(dataset)) {
    const stats::WindowSummary window = stats::summarize(dataset, group, true);
    const judge::Comparison same = judge::compare_windows(&window, &window, {});
    require(same.verdict != judge::Verdict::regressed && same.verdict != judge::Verdict::improved,
            "a test compared with itself does not change");
    csv::Problems ignored;
    for (const stats::SyscallLatency& one : stats::latencies_of(dataset, group, {}, ignored)) {
      for (double fraction : stats::kPercentiles) (void)stats::percentile_ns(one.latency, fraction);
      (void)stats::bars(one.latency, 0, kHistogramBuckets - 1, false);
    }
  }
}

}  // namespace syscost::bench::fuzz
