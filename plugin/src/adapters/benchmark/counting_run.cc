// SPDX-License-Identifier: MIT
#include "adapters/benchmark/counting_run.h"

#include <benchmark/benchmark.h>
#include <algorithm>
#include <cstdint>

#include <cstdlib>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <vector>

#include "adapters/benchmark/flags.h"
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
      // Aggregates and complexity come after the repetitions, whose passes were taken then; or instead of them.
      if (record.passes.empty() || runs.empty()) return;
      const Run& run = runs.front();
      record.repetitions = static_cast<std::size_t>(std::max<std::int64_t>(run.repetitions, 1));
      record.key = {run.family_index, run.per_family_instance_index};
      record.name = run.run_name.str();
    }
    if (!record.why_not.has_value()) record.why_not = why_not;
    send_record(record);
  }
};

/// The names of what `spec` selects, in the order in which they will run.
std::vector<std::string> list_names(const std::string& spec) {
  set_flags({"--benchmark_list_tests=true", "--benchmark_format=console"});
  std::ostringstream text;
  Sender lister;
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

}  // namespace

void run_counting(const std::string& spec) {
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  const adapter::CountingStart start = adapter::start_counting(framework);
  send_start(start.backend, start.note, start.why_not);
  if (start.why_not.has_value()) adapter::end_counting();
  // Both run the loop once more, for purposes of their own.
  if (::benchmark::RegisterMemoryManager != nullptr) ::benchmark::RegisterMemoryManager(nullptr);
  if (::benchmark::RegisterProfilerManager != nullptr) ::benchmark::RegisterProfilerManager(nullptr);

  set_flags({"--benchmark_out="});
  send_names(list_names(spec));
  // Longer than any pass that we end (passes.h), so that Google Benchmark grows tenfold until then; yet not so long
  // that a loop that is out of our sight, which nobody ends, runs for hours. One repetition more than will be timed:
  // what happens only once happens in the first.
  set_flags({"--benchmark_min_time=2", "--benchmark_min_warmup_time=0",
             "--benchmark_repetitions=" + std::to_string(asked_repetitions() + 1),
             "--benchmark_enable_random_interleaving=false", "--benchmark_report_aggregates_only=false",
             "--benchmark_display_aggregates_only=false", "--benchmark_perf_counters="});
  std::ostream nowhere(nullptr);
  Sender sender;
  sender.SetOutputStream(&nowhere);
  real_run(&sender, nullptr, spec);
  adapter::end_counting();
}

std::string orders_for(std::size_t call, const std::string& answers) {
  return std::to_string(call) + ":" + answers;
}

bool is_call_to_count(const std::string& orders, std::size_t call) {
  return std::strtoull(orders.c_str(), nullptr, 10) == call;
}

std::size_t answer_of_call(const std::string& orders, std::size_t call) {
  std::istringstream answers(orders.substr(orders.find(':') + 1));
  std::string answer;
  for (std::size_t i = 0; i <= call; ++i) std::getline(answers, answer, ',');
  return std::strtoull(answer.c_str(), nullptr, 10);
}

}  // namespace syscost::benchmark_adapter
