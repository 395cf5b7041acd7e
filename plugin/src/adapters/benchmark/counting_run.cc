// SPDX-License-Identifier: MIT
#include "adapters/benchmark/counting_run.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <utility>
#include <vector>

#include "adapters/benchmark/flags.h"
#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/versions.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

/// Prints nothing, and sends a record when a benchmark is done: those at `positions`, in order.
class Sender : public Reporter {
 public:
  explicit Sender(std::vector<std::size_t> positions) : positions_(std::move(positions)) { expect_next(); }

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    Record record;
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      ++record.repetitions;
      record.key = {run.family_index, run.per_family_instance_index};
      record.name = run.run_name.str();
      const std::string message = message_of(run);
      if (std::string(outcome_of(run)) != "passed" && message != Passes::stop_message()) {
        record.why_not = Unavailable{"It did not run while it was counted: " + message + ".", ""};
      }
    }
    std::optional<Unavailable> why_not;
    record.passes = Passes::instance().take(why_not);
    if (record.repetitions == 0) {
      // Aggregates come after the repetitions, whose passes were taken then; or instead of them.
      if (record.passes.empty() || runs.empty()) return;
      const Run& run = runs.front();
      record.repetitions = static_cast<std::size_t>(std::max<std::int64_t>(run.repetitions, 1));
      record.key = {run.family_index, run.per_family_instance_index};
      record.name = run.run_name.str();
    }
    if (!record.why_not.has_value()) record.why_not = why_not;
    record.position = done_ < positions_.size() ? positions_[done_] : positions_.size();
    send_record(record);
    ++done_;
    expect_next();
  }

 private:
  void expect_next() const {
    if (done_ < positions_.size()) Passes::instance().expect(positions_[done_]);
  }

  std::vector<std::size_t> positions_;
  std::size_t done_ = 0;
};

/// The names of what `spec` selects, in the order in which they will run.
std::vector<std::string> list_names(const std::string& spec) {
  set_flags({"--benchmark_list_tests=true", "--benchmark_format=console"});
  std::ostringstream text;
  Sender lister({});
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

}  // namespace

std::vector<std::size_t> positions_to_count(const std::vector<std::string>& names, std::size_t first) {
  std::map<std::string, int> bearers;
  for (const std::string& name : names) ++bearers[name];
  std::vector<std::size_t> positions;
  for (std::size_t position = first; position < names.size(); ++position) {
    if (first == 0 || bearers[names[position]] == 1) positions.push_back(position);
  }
  return positions;
}

void run_counting(const std::string& spec, std::size_t first) {
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  const adapter::CountingStart start = adapter::start_counting(framework);
  send_start(start.backend, start.note, start.why_not);
  if (start.why_not.has_value()) adapter::end_counting();
  // Both run the loop once more, for purposes of their own.
  if (::benchmark::RegisterMemoryManager != nullptr) ::benchmark::RegisterMemoryManager(nullptr);
  if (::benchmark::RegisterProfilerManager != nullptr) ::benchmark::RegisterProfilerManager(nullptr);

  set_flags({"--benchmark_out="});
  const std::vector<std::string> names = list_names(spec);
  send_names(names);
  const std::vector<std::size_t> positions = positions_to_count(names, first);
  if (positions.empty()) adapter::end_counting();
  // Longer than any pass that we end (passes.h), so that Google Benchmark grows tenfold until then; yet not so long
  // that a loop that is out of our sight, which nobody ends, runs for hours. One repetition more than will be timed:
  // what happens only once happens in the first.
  set_flags({"--benchmark_min_time=2", "--benchmark_min_warmup_time=0",
             "--benchmark_repetitions=" + std::to_string(asked_repetitions() + 1),
             "--benchmark_enable_random_interleaving=false", "--benchmark_report_aggregates_only=false",
             "--benchmark_display_aggregates_only=false", "--benchmark_perf_counters="});
  std::ostream nowhere(nullptr);
  Sender sender(positions);
  sender.SetOutputStream(&nowhere);
  real_run(&sender, nullptr, first == 0 ? spec : spec_of(names, positions));
  adapter::end_counting();
}

std::string Orders::text() const {
  std::string text = std::to_string(call) + " " + std::to_string(first);
  for (const std::size_t answer : answers) text += " " + std::to_string(answer);
  return text;
}

Orders Orders::from(const std::string& text) {
  std::istringstream words(text);
  Orders orders;
  words >> orders.call >> orders.first;
  for (std::size_t answer = 0; words >> answer;) orders.answers.push_back(answer);
  return orders;
}

}  // namespace syscost::benchmark_adapter
