// SPDX-License-Identifier: MIT
#include "fuzz_output.h"

#include <nlohmann/json.hpp>
#include <string>

#include "extras/profilers/bpftrace/bpftrace_output.h"
#include "extras/profilers/bpftrace/bpftrace_text.h"
#include "extras/profilers/perf/perf_profiler.h"
#include "require.h"

namespace syscost::profilers::fuzz {
namespace {

using syscost::fuzz::require;

std::size_t entries_of(const BpftraceOutput& output) {
  std::size_t count = 0;
  for (const TracedMap& map : output.maps) count += map.entries.size();
  return count;
}

void work_with(const BpftraceOutput& output) {
  for (const TracedMap& map : output.maps) {
    require(map.name.starts_with('@') && !map.entries.empty(), "a map has a name and an entry");
    for (const MapEntry& entry : map.entries) (void)key_parts(entry.key);
  }
  const ScriptMaps all{.has_syscalls = true, .has_entries = true, .has_latency = true, .has_errors = true};
  const Result<Figures> figures = figures_of(output, all);
  if (!figures.ok()) {
    require(!figures.failure().reason.empty() && !figures.failure().how_to_fix.empty(), "a refusal has cause and fix");
    return;
  }
  for (const SyscallFigures& syscall : figures.value().syscalls) {
    std::uint64_t sum = 0;
    for (const LatencyBucket& bucket : syscall.latency) sum += bucket.count;
    require(syscall.returned == sum, "what returned is what the histogram holds");
  }
  const nlohmann::json json = nlohmann::json::parse(to_json("fuzz", output, figures.value().syscalls));
  require(json["maps"].size() == output.maps.size() && json["lines"].size() == output.lines.size(),
          "the JSON holds every map and line");
  const std::string summary = to_summary(output, figures.value().syscalls);
  require(summary.empty() || summary.back() == '\n', "a summary ends with its line");
}

/// What users write and what perf prints are read by this library too.
void read_as_others(const std::string& text) {
  const ScriptMaps maps = maps_of_source(text);
  require(maps.has_syscalls == (maps.has_entries || maps.has_latency), "a script counts syscalls in a map");
  (void)has_stacks(text);
  const Result<std::vector<PerfCounter>> counters = read_counters(text);
  if (!counters.ok()) return;
  require(nlohmann::json::parse(to_json(counters.value()))["counters"].size() == counters.value().size(),
          "the JSON holds every counter");
  require(summary_of(counters.value()).ends_with('\n'), "a summary ends with its line");
}

}  // namespace

void read_any_output(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_as_others(text);
  const Result<BpftraceOutput> output = parse_bpftrace_output(text);
  if (!output.ok()) {
    require(!output.failure().reason.empty() && !output.failure().how_to_fix.empty(), "a refusal has cause and fix");
    return;
  }
  work_with(output.value());

  // A whole text stays whole if another text follows it: no part of a text reaches over its end.
  const Result<BpftraceOutput> twice = parse_bpftrace_output(text + "\n" + text);
  require(twice.ok(), "a text that is whole is whole twice");
  require(entries_of(twice.value()) == 2 * entries_of(output.value()) &&
              twice.value().lines.size() == 2 * output.value().lines.size(),
          "no entry and no line is dropped silently");
}

}  // namespace syscost::profilers::fuzz
