// SPDX-License-Identifier: MIT
#include "model/loader.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
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

// More threads than this gain little beside the merging.
constexpr unsigned kMostParts = 8;

/// A part of a file on a thread of its own.
struct Worker {
  csv::Problems problems;
  std::unique_ptr<Collector> collector;
  std::future<csv::ReadEnd> done;
};

csv::RowHandler take_into(Collector& collector) {
  return [&collector](const csv::Row& row, csv::Skip& skip) { return collector.take(row, skip); };
}

/// The newest run at the beginning and the end of the file; "" if no row is found there. A file grows by appending, so
/// it is the file's newest run unless that is elsewhere.
std::string newest_at_ends(csv::Input& input) {
  constexpr std::uint64_t kEndBytes = std::uint64_t{64} << 10;
  std::pair<std::string, std::string> newest;
  const csv::RowHandler take = [&](const csv::Row& row, csv::Skip& skip) {
    const std::string_view started = row.text(schema::Column::kStartedAt);
    if (is_time(started)) {
      const std::pair one(std::string(sortable_time(started)), std::string(row.text(schema::Column::kRunId)));
      newest = std::max(newest, one);
    }
    skip = csv::Skip::context;
    return std::string();
  };
  csv::Problems torn;  // Lines that are cut here; the others are noted when the file is read.
  csv::read_csv_part(input, {0, kEndBytes}, take, torn);
  if (input.size() > kEndBytes) csv::read_csv_part(input, {input.size() - kEndBytes, 0}, take, torn);
  return newest.second;
}

/// Reads what `only_run`, or every run, has in the file into `collectors`, one for each part.
std::vector<Worker> read_parts(csv::Input& input, const LoadOptions& options, const std::string& only_run,
                               bool leaves_out_others) {
  const unsigned cores = std::thread::hardware_concurrency() / std::max(options.loads_at_once, 1U);
  const unsigned threads = std::clamp(cores, 1U, kMostParts);
  const std::vector<csv::FilePart> parts = csv::split_file(input, threads);
  std::vector<Worker> workers(parts.size());
  for (std::size_t i = workers.size(); i-- > 0;) {
    Worker& worker = workers[i];
    worker.collector = std::make_unique<Collector>(options, worker.problems);
    worker.collector->begin_file(input.path(), only_run);
    if (leaves_out_others) worker.collector->leave_out_others();
    // Deferred where the system has no thread left; the first part is read by the one that waits.
    const auto how = i == 0 ? std::launch::deferred : std::launch::async | std::launch::deferred;
    worker.done = std::async(how, [&input, &worker, part = parts[i]] {
      return csv::read_csv_part(input, part, take_into(*worker.collector), worker.problems);
    });
  }
  return workers;
}

/// Adds what the parts of a file hold to `into`.
void absorb(std::vector<Worker>& workers, const std::vector<csv::ReadEnd>& ends, Collector& into,
            csv::Problems& problems) {
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!ends.front().is_ours && i != 0) break;  // the header said that the other parts mean nothing
    problems.append(workers[i].problems, lines);
    into.absorb(*workers[i].collector, lines);
    workers[i].collector.reset();
    lines += ends[i].lines;
  }
}

/// The run of all parts that started last.
std::string newest_of(const std::vector<Worker>& workers) {
  std::pair<std::string, std::string> newest;
  for (const Worker& worker : workers) {
    const Dataset& data = worker.collector->so_far();
    for (const Context& context : data.contexts) {
      newest = std::max(
          newest, std::pair(std::string(sortable_time(data.text(context.started_at))), data.text(context.run_id)));
    }
  }
  return newest.second;
}

void load_csv(csv::Input& input, const LoadOptions& options, const std::string& asked_run, bool leaves_out_others,
              Collector& into, csv::Problems& problems) {
  into.begin_file(input.path());
  const bool is_newest = options.run_id.empty() && !options.all_runs && input.is_regular();
  std::string only_run = is_newest ? newest_at_ends(input) : asked_run;
  for (;;) {
    std::vector<Worker> workers = read_parts(input, options, only_run, leaves_out_others);
    std::vector<csv::ReadEnd> ends;
    ends.reserve(workers.size());
    for (Worker& worker : workers) ends.push_back(worker.done.get());
    // A newer run than the one at the ends was seen on the way: runs that were written at the same time.
    if (std::string newest; is_newest && !only_run.empty() && (newest = newest_of(workers)) != only_run) {
      only_run = newest;
      continue;
    }
    absorb(workers, ends, into, problems);
    return;
  }
}

/// One reading of all files. `only_run`: of files that have a place, rows of other runs are left out; empty = see
/// load_csv().
Dataset read_files(csv::Run& run, const LoadOptions& options, const std::string& only_run, bool leaves_out_others,
                   csv::Problems& problems) {
  Collector collector(options, problems);
  if (leaves_out_others) collector.leave_out_others();
  for (csv::Input& input : run.files) {
    if (!input.open(problems)) continue;
    if (csv::is_json(input)) {
      load_benchmark_json(input, collector, problems);
    } else {
      load_csv(input, options, only_run, leaves_out_others, collector, problems);
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
  const bool leaves_out_others = options.only_test_part && !options.test_part.empty() && is_repeatable;
  csv::Problems found;
  // --run is an id most of the time. Its other meanings are known when all runs were seen.
  std::string only_run = is_repeatable && !options.all_runs ? options.run_id : "";
  Dataset data = read_files(run, options, only_run, leaves_out_others, found);
  if (!only_run.empty() && data.samples.empty()) {
    const std::optional<NameId> meant = asked_run(data, options.run_id);
    if (meant && data.text(*meant) != only_run) {
      only_run = data.text(*meant);
      found = csv::Problems();
      data = read_files(run, options, only_run, leaves_out_others, found);
    }
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
