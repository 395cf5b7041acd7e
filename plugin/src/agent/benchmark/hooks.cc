// SPDX-License-Identifier: MIT
//
// Rows of a Google Benchmark that was not compiled with us. As in linked programs (adapters/benchmark), one process
// times and another one, the same program started again, counts.
#include <algorithm>
#include <vector>

#include "agent/benchmark/flags.h"
#include "agent/benchmark/reporters.h"
#include "agent/find/texts.h"
#include "agent/hooks.h"
#include "syscost/counting.h"

namespace syscost::agent {
namespace benchmark {

Reporters& reporters() {
  static auto* const its = new Reporters;
  return *its;
}

namespace {

// JSONReporter has the functions of BenchmarkReporter and no others.
constexpr int kSlotsBefore18 = 5;
constexpr int kSlotsSince18 = 6;
constexpr ReporterSlots kBefore18{0, -1, 1, 2};
constexpr ReporterSlots kSince18{0, 1, 2, 3};

}  // namespace
}  // namespace benchmark

bool hook_benchmark(const Modules& modules, int argc, char** argv) {
  using namespace benchmark;  // NOLINT(google-build-using-namespace)
  const std::vector<Vtable> vtables = vtables_of_derived(modules, "N9benchmark17BenchmarkReporterE");
  const std::vector<Vtable> json = vtables_by_typeinfo(modules, "N9benchmark12JSONReporterE");
  if (vtables.empty() || json.empty()) return false;
  Reporters& its = reporters();
  const int slots = json.front().count;
  its.slots = slots == kSlotsSince18 ? kSince18 : kBefore18;
  its.has_skips = slots == kSlotsSince18;
  its.may_be_libcxx = std::any_of(modules.begin(), modules.end(), mentions_libcxx);
  bool is_hooked = slots == kSlotsSince18 || slots == kSlotsBefore18;
  if (is_hooked && adapter::is_counting_process()) {
    change_arguments(argc, argv);
    is_hooked = hook_counting(modules, vtables);
  } else if (is_hooked) {
    is_hooked = hook_timing(modules, vtables);
  }
  if (!is_hooked) {
    refuse(
        "this program's Google Benchmark is no version that syscost knows (1.5 to 1.9), or its pages cannot be written",
        "link the program with syscost::benchmark, or measure it as a whole: bench run --process");
  }
  return true;
}

}  // namespace syscost::agent
