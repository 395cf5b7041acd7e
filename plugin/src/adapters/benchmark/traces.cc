// SPDX-License-Identifier: MIT
#include "adapters/benchmark/traces.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "adapters/benchmark/record.h"
#include "libc/symbols.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {

void Traces::gather(CountingRequest request) {
  request.is_for_tools = true;
  const auto wait = [this](int seconds) {
    const bool is_terminal = SYSCOST_LIBC(isatty)(STDERR_FILENO) != 0;
    if (seconds % (is_terminal ? 5 : 60) != 0 || running_ >= names_.size()) return;
    adapter::say("tracing benchmark " + names_[running_] + ", for " + std::to_string(seconds) + " s so far");
  };
  const adapter::CountingEnd end = adapter::run_counting_process(
      request.text(), [this](std::string_view line) { hear(line); }, wait);
  if (end.is_whole) return;
  const std::string heard = end.errors.empty() ? "" : "; it wrote:\n" + end.errors;
  if (!is_listed_) {
    adapter::note_missing_counts(
        {"no benchmark is traced: the process that tools look at " + end.how + " before it ran a benchmark" + heard,
         "let main() reach the benchmarks without input, whatever earlier benchmarks report"});
    return;
  }
  const std::string where = running_ < names_.size() ? "in benchmark " + names_[running_] : "after the last benchmark";
  adapter::note_missing_counts({"the process that tools look at " + end.how + " " + where + ": " +
                                    std::to_string(traces_.size()) + " of " + std::to_string(names_.size()) +
                                    " benchmarks were traced" + heard,
                                "repair that benchmark, or leave it out with --benchmark_filter"});
}

void Traces::hear(std::string_view line) {
  const std::vector<std::string_view> fields = split_fields(line);
  if (fields[0] == "unavailable" && fields.size() == 3) {
    adapter::refuse({std::string(fields[1]), std::string(fields[2])});
  } else if (fields[0] == "name" && fields.size() == 2) {
    names_.emplace_back(fields[1]);
  } else if (fields[0] == "listed") {
    is_listed_ = true;
  } else if (fields[0] == "running" && fields.size() == 2) {
    running_ = SYSCOST_LIBC(strtoull)(std::string(fields[1]).c_str(), nullptr, 10);
  } else if (fields[0] == "traced" && fields.size() == 4) {
    const std::string name(fields[2]);
    traces_.push_back({name, repetition_of(name), SYSCOST_LIBC(strtoull)(std::string(fields[1]).c_str(), nullptr, 10),
                       std::string(fields[3])});
  } else if (fields[0] == "untraced" && fields.size() == 3) {
    adapter::say("benchmark " + std::string(fields[1]) + " is not traced: " + std::string(fields[2]));
  }
}

/// Benchmarks of one name are one series, as in the rows of what was timed.
std::uint64_t Traces::repetition_of(const std::string& name) const {
  return static_cast<std::uint64_t>(
      std::count_if(traces_.begin(), traces_.end(), [&](const Trace& trace) { return trace.name == name; }));
}

void Traces::write() const {
  std::vector<adapter::TracedPass> passes;
  for (const Trace& trace : traces_) passes.push_back({trace.name, trace.repetition, trace.iterations, trace.text});
  adapter::write_traced(passes);
}

}  // namespace syscost::benchmark_adapter
