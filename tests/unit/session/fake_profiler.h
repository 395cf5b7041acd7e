// SPDX-License-Identifier: MIT
//
// A Profiler for tests. The test makes its events; it notes when it was started, armed and stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/profilers/profiler.h"

namespace syscost::testing {

/// The test's record of a tool's calls; outlives the tool.
struct FakeTool {
  std::atomic<std::uint64_t> word{profilers::kDisarmed};
  bool is_attached = false;
  bool refuses_check = false;
  bool refuses_attach = false;
  bool refuses_detach = false;
  bool counts_syscalls = true;
  std::uint64_t lost_events = 0;
  std::map<int, std::uint64_t> events;  ///< By syscall, since it was attached.
  std::vector<std::string> log;

  /// A call of the process: seen while attached and armed.
  void call(int number = 0, std::uint64_t times = 1) {
    if (is_attached && word.load() == profilers::kArmed) events[number] += times;
  }
};

class FakeProfiler final : public profilers::Profiler {
 public:
  explicit FakeProfiler(FakeTool& tool) : Profiler(tool.word), tool_(tool) {}

  std::string_view name() const override { return "bpftrace"; }
  Result<void> check() override {
    tool_.log.emplace_back("check");
    if (tool_.refuses_check) return Failure{"the fake tool is missing", "get one"};
    return {};
  }
  Result<void> attach() override {
    tool_.log.emplace_back("attach");
    if (tool_.refuses_attach) return Failure{"the fake tool ended at once", "try again"};
    tool_.is_attached = true;
    return {};
  }
  Result<std::vector<profilers::Output>> detach() override {
    tool_.log.emplace_back(tool_.word.load() != profilers::kArmed ? "detach" : "detach while armed");
    tool_.is_attached = false;
    if (tool_.refuses_detach) return Failure{"the fake tool said nothing", "try again"};
    profilers::Output output;
    output.script = "syslat";
    output.counts_syscalls = tool_.counts_syscalls;
    output.lost_events = tool_.lost_events;
    std::uint64_t all = 0;
    for (const auto& [number, count] : std::exchange(tool_.events, {})) {
      profilers::SyscallFigures figures;
      figures.number = number;
      figures.entries = figures.returned = count;
      figures.has_errors = true;
      figures.errors = {{11, 1}};
      figures.latency = {{512, count}};
      figures.latency_sum_ns = 600 * count;
      figures.latency_min_ns = 550;
      figures.latency_max_ns = 650;
      output.syscalls.push_back(figures);
      all += count;
    }
    output.summary = "saw " + std::to_string(all);
    output.artifacts = {{"syslat.txt", output.summary}, {"syslat.json", "{}"}};
    return std::vector<profilers::Output>{output};
  }

 private:
  FakeTool& tool_;
};

}  // namespace syscost::testing
