// SPDX-License-Identifier: MIT
//
// The cost of --syscost_sched for a change of threads, against a program at sched_switch that does nothing.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

enum Mode { kBare, kEmpty, kEbpf, kSched, kModes };
constexpr std::array<const char*, kModes> kNames = {"bare", "empty", "ebpf", "sched"};

double switch_ns(Mode mode, std::vector<double>& events) {
  Process process({beside("overhead_switching"), kNames.at(mode)});
  if (process.wait() != 0) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
  const std::optional<double> value = value_of(process.output(), "switch_ns");
  if (!value) throw std::runtime_error("overhead_switching printed no switch_ns");
  if (mode == kSched) events.push_back(value_of(process.output(), "events_of_a_switch").value_or(0));
  return *value;
}

}  // namespace

void report_switches(int rounds) {
  fmt::print("\na change of threads on one CPU: two threads hand a byte to and fro by pipes; median of the rounds\n");
  std::vector<double> events;
  std::array<std::vector<double>, kModes> all;
  try {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < kModes; ++i) {
        const auto mode = static_cast<Mode>((i + round) % kModes);
        all.at(mode).push_back(switch_ns(mode, events));
      }
    }
  } catch (const std::runtime_error& error) {
    fmt::print("  n/a  {}\n", error.what());
    return;
  }
  const double bare = median(all[kBare]);
  const double empty = median(all[kEmpty]) - bare;
  const double ebpf = median(all[kEbpf]) - bare;
  const double sched = median(all[kSched]) - bare - ebpf;
  fmt::print("  bare {:.0f} ns; an empty program at sched_switch adds {:.0f} ns, ebpf armed (two calls) {:.0f} ns\n",
             bare, empty, ebpf);
  fmt::print("  --syscost_sched adds {:.0f} ns to that ({:.1f} events): {}\n", sched, median(events),
             empty > 0 ? fmt::format("{:.1f} times the empty program", sched / empty)
                       : "no ratio, because the empty program added nothing that could be measured");
}

}  // namespace overhead
