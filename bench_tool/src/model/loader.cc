// SPDX-License-Identifier: MIT
#include "model/loader.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "csv/reader.h"
#include "csv/run_files.h"
#include "model/benchmark_json.h"
#include "model/collector.h"
#include "model/incomplete_run.h"
#include "model/run_selection.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

csv::RowHandler take_into(Collector& collector) {
  return [&collector](const csv::Row& row) { return collector.take(row); };
}

/// The run that started last, of those in the file; "" if a row has quotes, or none tells a run.
std::string newest_run_in(const csv::Input& input) {
  std::pair<std::string, std::string> newest;
  csv::LineSource lines(input.bytes_of(0, 0));
  csv::Line line;
  std::string known;
  try {
    while (lines.next(line)) {
      if (line.number == 1 || line.text.empty() || (!known.empty() && line.text.starts_with(known))) continue;
      const std::optional<std::string_view> before = csv::beginning_of(line.text, schema::Column::kStartedAt);
      const std::optional<std::string_view> context = csv::beginning_of(line.text, schema::Column::kPid);
      if (!context && line.text.find('"') != std::string_view::npos) return {};
      if (!before || !context) continue;  // torn
      known = *context;
      const std::string_view started =
          context->substr(before->size(), context->find(',', before->size()) - before->size());
      const std::string_view run = before->substr(before->find(',') + 1);
      if (is_time(started))
        newest = std::max(newest, {std::string(sortable_time(started)), std::string(run.substr(0, run.size() - 1))});
    }
  } catch (const std::system_error&) {
    return {};  // who reads the rows says so
  }
  return newest.second;
}

/// Which rows a reading takes.
struct Reading {
  std::string only_run;            ///< Of files that have a place, the rows of this run alone; empty: see load_csv().
  bool leaves_out_others = false;  ///< Windows that LoadOptions::test_part cannot mean.
  bool is_whole = false;           ///< All rows, whatever `only_run` says.
};

/// False if the rows that were left out might have mattered: a bad line may have told the wrong run, and a file that
/// grows may have a newer run than the one that was looked for.
bool load_csv(csv::Input& input, const LoadOptions& options, const Reading& reading, Collector& into,
              csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  const bool is_newest = options.run_id.empty() && !options.all_runs && input.is_regular() && !reading.is_whole;
  const std::string only_run = is_newest ? newest_run_in(input) : reading.is_whole ? "" : reading.only_run;
  into.begin_file(input.path(), only_run);
  csv::read_csv(input.path(), input.bytes(), take_into(into), problems, only_run);
  if (only_run.empty()) return true;
  const Dataset& data = into.so_far();
  const auto file = static_cast<std::uint32_t>(data.files.size() - 1);
  return problems.count() == problems_before && (!is_newest || data.text(newest_run(data, file)) == only_run);
}

/// One reading of all files; `is_sure`: what load_csv() returned for all.
Dataset read_files(csv::Run& run, const LoadOptions& options, const Reading& reading, bool& is_sure,
                   csv::Problems& problems) {
  Collector collector(options, problems);
  if (reading.leaves_out_others) collector.leave_out_others();
  is_sure = true;
  for (csv::Input& input : run.files) {
    if (!input.open(problems)) continue;
    if (csv::is_json(input)) {
      load_benchmark_json(input, collector, problems);
    } else {
      is_sure = load_csv(input, options, reading, collector, problems) && is_sure;
    }
    input.close();
  }
  return collector.finish(run.name);
}

/// True if all files can be read again.
bool can_be_repeated(const csv::Run& run) {
  std::error_code ignored;
  return std::all_of(run.files.begin(), run.files.end(),
                     [&](const csv::Input& input) { return std::filesystem::is_regular_file(input.path(), ignored); });
}

}  // namespace

Dataset load(csv::Run run, const LoadOptions& options, csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  const bool is_repeatable = can_be_repeated(run);
  Reading reading;
  reading.is_whole = !is_repeatable;
  reading.leaves_out_others = options.only_test_part && !options.test_part.empty() && is_repeatable;
  csv::Problems found;
  // --run is an id most of the time. Its other meanings are known when all runs were seen.
  reading.only_run = options.all_runs ? "" : options.run_id;
  bool is_sure = true;
  Dataset data = read_files(run, options, reading, is_sure, found);
  const bool is_no_id = !reading.is_whole && !reading.only_run.empty() && data.samples.empty();
  const std::optional<NameId> meant = is_sure && is_no_id ? asked_run(data, options.run_id) : std::nullopt;
  if (!is_sure || (meant && data.text(*meant) != reading.only_run)) {
    reading.is_whole = !is_sure;
    if (is_sure) reading.only_run = data.text(*meant);
    found = csv::Problems();
    data = read_files(run, options, reading, is_sure, found);
  }
  problems.append(found);
  const bool has_files = !run.files.empty();
  const bool is_empty = data.samples.empty() && data.runs.empty() && data.left_out_tests.empty() && !data.is_partial;
  if (is_empty && has_files && problems.count() == problems_before) {
    problems.add(run.name, 0, "holds a header and no row: no test was measured");
  }
  const RunsAre runs = options.is_history ? RunsAre::apart : run.is_folder ? RunsAre::one_folder : RunsAre::one_file;
  for (std::string& fault : missing_shards(data, runs)) problems.add(run.name, 0, std::move(fault));
  if (options.is_printable) data.make_printable();
  return data;
}

Dataset load(const std::string& path, const LoadOptions& options, csv::Problems& problems) {
  return load(csv::find_files(path, options.folders, problems), options, problems);
}

Dataset load_text(const std::string& name, std::string_view text, const LoadOptions& options, csv::Problems& problems) {
  Collector collector(options, problems);
  collector.begin_file(name);
  csv::read_csv_text(name, text, take_into(collector), problems);
  return collector.finish(name);
}

}  // namespace syscost::bench::model
