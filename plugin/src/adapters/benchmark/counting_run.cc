// SPDX-License-Identifier: MIT
#include "adapters/benchmark/counting_run.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <streambuf>
#include <utility>
#include <vector>

#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/versions.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

/// Prints nothing, and sends a record when a benchmark is done.
class Sender : public Reporter {
 public:
  Sender(std::vector<std::size_t> positions, bool has_keys)
      : records_(
            [all = std::move(positions)](std::size_t done) {
              return done < all.size() ? std::optional<std::size_t>(all[done]) : std::nullopt;
            },
            has_keys, Passes::stop_message()) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override { records_.report(timed_runs_of(runs)); }

 private:
  RecordSender records_;
};

/// Prints nothing, and notes the benchmarks with loops that we cannot see.
class Prober : public Reporter {
 public:
  explicit Prober(const std::vector<std::size_t>& positions) : positions_(positions) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    if (runs.empty() || runs.front().run_type != Run::RT_Iteration || done_ == positions_.size()) return;
    const Run& run = runs.front();
    Record record;
    record.passes = Passes::instance().take(record.why_not);
    // A benchmark that was skipped never began its loop.
    if (record.passes.empty() && std::string(outcome_of(run)) == "passed") {
      record.position = positions_[done_];
      record.key = Key{run.family_index, run.per_family_instance_index};
      record.name = run.run_name.str();
      unseen_.push_back(std::move(record));
    } else {
      seen_.push_back(positions_[done_]);
    }
    ++done_;
  }

  const std::vector<Record>& unseen() const { return unseen_; }
  const std::vector<std::size_t>& seen() const { return seen_; }

 private:
  const std::vector<std::size_t> positions_;
  std::size_t done_ = 0;
  std::vector<Record> unseen_;
  std::vector<std::size_t> seen_;
};

}  // namespace

std::vector<std::string> list_names(const std::string& spec) {
  set_flags({"--benchmark_list_tests=true", "--benchmark_format=console"});
  std::ostringstream text;
  Sender lister({}, true);
  lister.SetOutputStream(&text);
  lister.SetErrorStream(&text);
  std::vector<std::string> names;
  if (real_run(&lister, nullptr, spec) > 0) {
    std::istringstream lines(text.str());
    for (std::string name; std::getline(lines, name);) names.push_back(name);
  }
  set_flags({"--benchmark_list_tests=false"});
  return names;
}

namespace {

/// A filter for exactly these benchmarks, as an extended regular expression.
std::string spec_of(const std::vector<std::string>& names, const std::vector<std::size_t>& positions) {
  std::string spec;
  for (const std::size_t position : positions) {
    spec += spec.empty() ? "^(" : "|";
    for (const char c : names[position]) {
      if (std::string(".[\\()*+?{|^$").find(c) != std::string::npos) spec += '\\';
      spec += c;
    }
  }
  return spec + ")$";
}

/// `positions` holds all benchmarks. Removes those with loops that we cannot see, and says so; true when there are
/// none. The rest is selected by name, so benchmarks that share a name with a removed one go as well.
bool leave_out_unseen(const std::vector<std::string>& names, std::vector<std::size_t>& positions,
                      const std::string& spec) {
  std::ostream nowhere(nullptr);
  Prober prober(positions);
  prober.SetOutputStream(&nowhere);
  set_flags({"--benchmark_min_time=0.000000001", "--benchmark_min_warmup_time=0", "--benchmark_repetitions=1",
             "--benchmark_enable_random_interleaving=false", "--benchmark_report_aggregates_only=false",
             "--benchmark_display_aggregates_only=false", "--benchmark_perf_counters="});
  adapter::send_line("probing");
  real_run(&prober, nullptr, spec);
  adapter::send_line("probed");
  if (prober.unseen().empty()) return true;
  for (const Record& record : prober.unseen()) send_record(record);
  positions.clear();
  for (const std::size_t position : prober.seen()) {
    const bool is_unique = std::count(names.begin(), names.end(), names[position]) == 1;
    if (is_unique) {
      positions.push_back(position);
    } else {
      Record record;
      record.position = position;
      record.name = names[position];
      record.why_not = Unavailable{
          "It cannot be told from the others of its name, because syscost does not see the loops of some benchmarks.",
          "Give each benchmark a name of its own."};
      send_record(record);
    }
  }
  return false;
}

}  // namespace

std::vector<std::size_t> positions_to_run(const std::vector<std::string>& names, std::size_t first,
                                          const std::vector<std::size_t>& dead) {
  std::map<std::string, int> bearers;
  for (const std::string& name : names) ++bearers[name];
  std::set<std::string> wanted;
  for (std::size_t position = first; position < names.size(); ++position) {
    if (first == 0 || bearers[names[position]] == 1 || !is_interleaving()) wanted.insert(names[position]);
  }
  for (const std::size_t position : dead) {
    if (position < names.size()) wanted.erase(names[position]);
  }
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < names.size(); ++position) {
    if (wanted.count(names[position]) != 0) positions.push_back(position);
  }
  return positions;
}

void leave_no_other_passes() {
  // Both run the loop once more, for purposes of their own.
  if (::benchmark::RegisterMemoryManager != nullptr) ::benchmark::RegisterMemoryManager(nullptr);
  if (::benchmark::RegisterProfilerManager != nullptr) ::benchmark::RegisterProfilerManager(nullptr);
  set_flags({"--benchmark_out="});
}

void set_pass_flags(std::int64_t repetitions) {
  // Longer than any pass that we end (passes.h), so that Google Benchmark grows tenfold until then. But a loop that we
  // cannot see, and so cannot end, must not run for hours.
  set_flags({"--benchmark_min_time=2", "--benchmark_min_warmup_time=0",
             "--benchmark_repetitions=" + std::to_string(repetitions), "--benchmark_enable_random_interleaving=false",
             "--benchmark_report_aggregates_only=false", "--benchmark_display_aggregates_only=false",
             "--benchmark_perf_counters="});
}

void run_counting(const std::string& spec, const CountingRequest& request) {
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  const adapter::CountingStart start = adapter::start_counting(framework);
  send_start(start.backend, start.note, start.why_not);
  if (start.why_not.has_value()) adapter::end_counting();
  leave_no_other_passes();
  const std::vector<std::string> names = list_names(spec);
  send_names(names);
  std::vector<std::size_t> positions = positions_to_run(names, request.first, request.dead);
  bool is_whole = request.first == 0;
  if (is_whole && request.probes && may_have_unseen_loops()) is_whole = leave_out_unseen(names, positions, spec);
  if (positions.empty()) adapter::end_counting();
  // One repetition more than will be timed: what happens only once happens in the first.
  set_pass_flags(asked_repetitions() + 1);
  std::ostream nowhere(nullptr);
  Sender sender(positions, is_whole);
  sender.SetOutputStream(&nowhere);
  real_run(&sender, nullptr, is_whole ? spec : spec_of(names, positions));
  adapter::end_counting();
}

std::string CountingRequest::text() const {
  std::string text =
      std::to_string(call) + " " + std::to_string(first) + (probes ? " 1" : " 0") + (is_for_tools ? " 1" : " 0");
  for (const std::vector<std::size_t>* list : {&answers, &dead}) {
    text += " " + std::to_string(list->size());
    for (const std::size_t number : *list) text += " " + std::to_string(number);
  }
  return text;
}

CountingRequest CountingRequest::from(const std::string& text) {
  std::istringstream words(text);
  CountingRequest request;
  words >> request.call >> request.first >> request.probes >> request.is_for_tools;
  for (std::vector<std::size_t>* list : {&request.answers, &request.dead}) {
    std::size_t size = 0;
    words >> size;
    for (std::size_t number = 0; size > 0 && words >> number; --size) list->push_back(number);
  }
  return request;
}

}  // namespace syscost::benchmark_adapter
