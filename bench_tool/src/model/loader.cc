// SPDX-License-Identifier: MIT
#include "model/loader.h"

#include <algorithm>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "csv/file_kind.h"
#include "csv/file_parts.h"
#include "csv/reader.h"
#include "model/benchmark_json.h"
#include "model/collector.h"

namespace syscost::bench::model {
namespace {

// Each part costs the CSV library's buffers (48 MiB); more threads than this gain little beside the merging.
constexpr unsigned kMostParts = 8;

/// A part of a file on a thread of its own.
struct Worker {
  csv::Problems problems;
  std::unique_ptr<Collector> collector;
  std::future<csv::ReadEnd> done;
};

csv::RowHandler take_into(Collector& collector) {
  return [&collector](const csv::Row& row) { return collector.take(row); };
}

void load_csv(csv::Input& input, const LoadOptions& options, Collector& into, csv::Problems& problems) {
  into.begin_file(input.path());
  const unsigned cores = std::thread::hardware_concurrency() / std::max(options.loads_at_once, 1U);
  const unsigned threads = std::clamp(cores, 1U, kMostParts);
  const std::vector<csv::FilePart> parts = csv::split_file(input, threads);
  std::uint64_t rows = 0;
  for (const csv::FilePart& part : parts) rows += part.rows;
  into.expect_rows(rows);
  std::vector<Worker> workers(parts.size() - 1);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Worker& worker = workers[i];
    worker.collector = std::make_unique<Collector>(options, worker.problems);
    worker.collector->begin_file(input.path());
    worker.collector->expect_rows(parts[i + 1].rows);
    // Deferred where the system has no thread left.
    worker.done = std::async(std::launch::async | std::launch::deferred, [&input, &worker, part = parts[i + 1]] {
      return csv::read_csv_part(input, part, take_into(*worker.collector), worker.problems);
    });
  }
  const csv::ReadEnd first = csv::read_csv_part(input, parts[0], take_into(into), problems);
  std::uint64_t lines = first.lines;
  for (Worker& worker : workers) {
    const csv::ReadEnd part = worker.done.get();
    if (!first.is_ours) continue;  // the header said that the other parts mean nothing
    problems.append(worker.problems, lines);
    into.absorb(*worker.collector, lines);
    lines += part.lines;
  }
}

}  // namespace

Dataset load(csv::Run run, const LoadOptions& options, csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  Collector collector(options, problems);
  for (csv::Input& input : run.files) {
    if (!input.open(problems)) continue;
    if (csv::is_json(input)) {
      load_benchmark_json(input, collector, problems);
    } else {
      load_csv(input, options, collector, problems);
    }
    input.close();
  }
  Dataset data = collector.finish(run.name);
  const bool has_files = !run.files.empty();
  const bool is_empty = data.samples.empty() && data.left_out_tests.empty();
  if (is_empty && has_files && problems.count() == problems_before) {
    problems.add(run.name, 0, "holds a header and no row: no test was measured");
  }
  if (options.is_printable) data.make_printable();
  return data;
}

Dataset load(const std::string& path, const LoadOptions& options, csv::Problems& problems) {
  return load(csv::find_files(path, problems), options, problems);
}

Dataset load_text(const std::string& name, std::string_view text, const LoadOptions& options, csv::Problems& problems) {
  Collector collector(options, problems);
  collector.begin_file(name);
  csv::read_csv_text(name, text, take_into(collector), problems);
  return collector.finish(name);
}

}  // namespace syscost::bench::model
