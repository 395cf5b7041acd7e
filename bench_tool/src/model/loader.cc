// SPDX-License-Identifier: MIT
#include "model/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "csv/find_files.h"
#include "csv/reader.h"
#include "model/row_parser.h"

namespace syscost::bench::model {
namespace {

using schema::Column;

/// What makes two rows rows of the same window.
struct SampleKey {
  NameId run_id, kind, test, window, parent, origin;
  std::uint32_t repetition;
  std::uint64_t pid;

  bool operator==(const SampleKey&) const = default;
};

struct SampleKeyHash {
  std::size_t operator()(const SampleKey& key) const {
    std::uint64_t hash = key.pid;
    for (std::uint32_t part : {key.run_id, key.kind, key.test, key.window, key.parent, key.origin, key.repetition}) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 32U;
    }
    return static_cast<std::size_t>(hash);
  }
};

class Loader {
 public:
  Loader(const LoadOptions& options, csv::Problems& problems) : options_(options), problems_(problems) {}

  void begin_file(const std::string& file) {
    data.files.push_back(file);
    parser_.begin_file(static_cast<std::uint32_t>(data.files.size() - 1));
  }

  std::string take(const csv::Row& row) {
    ParsedKey key;
    if (std::string fault = parser_.parse_key(row, key); !fault.empty()) return fault;
    const std::uint32_t sample = sample_of(key);
    if (key.is_test_row) {
      if (data.samples[sample].totals_line != 0) return duplicate(sample, data.samples[sample].totals_line);
      Totals totals;
      if (std::string fault = parser_.parse_totals(row, totals); !fault.empty()) return fault;
      data.samples[sample].totals = totals;
      data.samples[sample].totals_line = static_cast<std::uint32_t>(row.line());
      return {};
    }
    SyscallRow parsed;
    parsed.sample = sample;
    parsed.line = static_cast<std::uint32_t>(row.line());
    const bool keeps_histogram = options_.keep_histograms && may_match(row.text(Column::kTest));
    std::string fault = parser_.parse_syscall(row, keeps_histogram, parsed);
    if (fault.empty()) data.rows.push_back(parsed);
    return fault;
  }

  void finish() {
    select_runs();
    data.index();
    drop_duplicates();
  }

  Dataset data;

 private:
  std::uint32_t sample_of(const ParsedKey& key) {
    const SampleKey wanted{data.contexts[key.context].run_id,
                           key.kind,
                           key.test,
                           key.window,
                           key.parent,
                           key.origin,
                           key.repetition,
                           key.pid};
    if (!data.samples.empty() && wanted == last_key_) return last_sample_;
    auto [found, is_new] = samples_.try_emplace(wanted, static_cast<std::uint32_t>(data.samples.size()));
    if (is_new) {
      Sample& sample = data.samples.emplace_back();
      sample.context = key.context;
      sample.repetition = key.repetition;
      sample.pid = key.pid;
      sample.kind = key.kind;
      sample.test = key.test;
      sample.window = key.window;
      sample.parent = key.parent;
      sample.origin = key.origin;
    }
    last_key_ = wanted;
    return last_sample_ = found->second;
  }

  /// A test that `histograms_of` may mean: its display name, `suite Log, set-up`, holds more than the cell.
  bool may_match(std::string_view test) const {
    const std::string& wanted = options_.histograms_of;
    return test.find(wanted) != std::string_view::npos || wanted.find(test) != std::string::npos;
  }

  std::string duplicate(std::uint32_t sample, std::uint32_t line) const {
    return fmt::format("the same key as {}:{}; left out, it would count twice",
                       data.files[data.context(data.samples[sample]).file], line);
  }

  /// Leaves the samples of the runs that were asked for: of each file the newest one, unless told otherwise.
  void select_runs() {
    if (options_.all_runs) return;
    // The newest run is the one whose programs started last; equal times are decided by run_id.
    std::map<std::uint32_t, std::pair<std::string_view, NameId>> newest;
    for (const Context& context : data.contexts) {
      auto& best = newest[context.file];
      const std::string_view started = data.text(context.started_at);
      if (std::pair(started, std::string_view(data.text(context.run_id))) >=
          std::pair(best.first, std::string_view(data.text(best.second)))) {
        best = {started, context.run_id};
      }
    }
    const NameId asked = options_.run_id.empty() ? kNoName : data.names.intern(options_.run_id);
    auto is_wanted = [&](const Sample& sample) {
      const Context& context = data.context(sample);
      return asked == kNoName ? newest[context.file].second == context.run_id : context.run_id == asked;
    };
    std::vector<std::uint32_t> moved(data.samples.size(), 0);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
      moved[i] = is_wanted(data.samples[i]) ? kept : kDropped;
      if (moved[i] != kDropped) data.samples[kept++] = data.samples[i];
    }
    if (asked != kNoName && kept == 0 && !data.samples.empty()) report_unknown_run();
    data.samples.resize(kept);
    std::erase_if(data.rows, [&](SyscallRow& row) { return (row.sample = moved[row.sample]) == kDropped; });
  }

  void report_unknown_run() {
    std::set<std::string_view> ids;
    for (const Context& context : data.contexts) ids.insert(data.text(context.run_id));
    problems_.add(data.name, 0, fmt::format("no run \"{}\" in it; it holds {}", options_.run_id, fmt::join(ids, ", ")));
  }

  /// Two rows of one window for the same syscall: the first counts, the others are reported.
  void drop_duplicates() {
    std::vector<std::size_t> dropped;
    std::unordered_map<std::uint64_t, std::uint32_t> seen;  // (syscall, detail) -> line
    for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
      auto rows = data.rows_of(sample);
      auto order = [](const SyscallRow& a, const SyscallRow& b) {
        return std::pair(a.syscall, a.detail) < std::pair(b.syscall, b.detail);
      };
      sorted_.assign(rows.begin(), rows.end());
      std::sort(sorted_.begin(), sorted_.end(), order);
      auto same = [](const SyscallRow& a, const SyscallRow& b) {
        return a.syscall == b.syscall && a.detail == b.detail;
      };
      if (std::adjacent_find(sorted_.begin(), sorted_.end(), same) == sorted_.end()) continue;
      seen.clear();
      for (const SyscallRow& row : rows) {
        auto [first, is_new] = seen.try_emplace(std::uint64_t{row.syscall} << 32U | row.detail, row.line);
        if (is_new) continue;
        problems_.add(data.files[data.context(data.samples[sample]).file], row.line, duplicate(sample, first->second));
        dropped.push_back(static_cast<std::size_t>(&row - data.rows.data()));
      }
    }
    if (dropped.empty()) return;
    for (auto it = dropped.rbegin(); it != dropped.rend(); ++it) {
      data.rows.erase(data.rows.begin() + static_cast<std::ptrdiff_t>(*it));
    }
    data.index();
  }

  static constexpr std::uint32_t kDropped = 0xFFFFFFFF;
  const LoadOptions& options_;
  csv::Problems& problems_;
  RowParser parser_{data};
  std::unordered_map<SampleKey, std::uint32_t, SampleKeyHash> samples_;
  SampleKey last_key_{};
  std::uint32_t last_sample_ = 0;
  std::vector<SyscallRow> sorted_;
};

}  // namespace

Dataset load(const std::string& path, const LoadOptions& options, csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  Loader loader(options, problems);
  loader.data.name = path;
  for (const std::string& file : csv::find_files(path, problems)) {
    loader.begin_file(file);
    csv::read_csv_file(
        file, [&](const csv::Row& row) { return loader.take(row); }, problems);
  }
  loader.finish();
  if (loader.data.samples.empty() && problems.count() == problems_before) {
    problems.add(path, 0, "holds a header and no row: no test was measured");
  }
  return std::move(loader.data);
}

Dataset load_text(const std::string& name, std::string_view text, const LoadOptions& options, csv::Problems& problems) {
  Loader loader(options, problems);
  loader.data.name = name;
  loader.begin_file(name);
  csv::read_csv_text(
      name, text, [&](const csv::Row& row) { return loader.take(row); }, problems);
  loader.finish();
  return std::move(loader.data);
}

}  // namespace syscost::bench::model
