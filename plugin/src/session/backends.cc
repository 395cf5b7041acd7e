// SPDX-License-Identifier: MIT
#include "session/backends.h"

#include <cmath>

#if SYSCOST_HAS_EBPF
#include "backends/ebpf/ebpf_backend.h"
#endif

#if SYSCOST_HAS_DISPATCH
#include "backends/dispatch/dispatch_backend.h"
#endif

namespace syscost::session {
namespace {

Result<std::unique_ptr<Backend>> open_ebpf() {
#if SYSCOST_HAS_EBPF
  return ebpf::open_backend();
#else
  return Failure{"this libsyscost was built without the eBPF backend",
                 "build it where libbpf is installed (Debian: apt-get install libbpf-dev)"};
#endif
}

#if SYSCOST_HAS_DISPATCH
Result<std::unique_ptr<Backend>> open_dispatch() {
  return dispatch::open_backend(dispatch::Patching::allowed);
}
Result<std::unique_ptr<Backend>> open_dispatch_unasked() {
  if (Result<void> debugger = dispatch::check_for_debugger(); !debugger.ok()) return debugger.failure();
  return open_dispatch();
}
Result<std::unique_ptr<Backend>> open_dispatch_trap() {
  return dispatch::open_backend(dispatch::Patching::never);
}
#else
Result<std::unique_ptr<Backend>> open_dispatch() {
  return Failure{"this libsyscost was built without the dispatch backend, which knows x86-64 only",
                 "choose another backend, or build for x86-64"};
}
constexpr auto open_dispatch_trap = open_dispatch;
constexpr auto open_dispatch_unasked = open_dispatch;
#endif

struct Entry {
  const char* name;
  BackendChoice choice;
  Result<std::unique_ptr<Backend>> (*open)();
  /// How `automatic` and --syscost_doctor try it; null = they leave it alone.
  Result<std::unique_ptr<Backend>> (*open_unasked)();
};

/// In the order in which `automatic` tries them.
constexpr Entry kBackends[] = {
    {"ebpf", BackendChoice::ebpf, open_ebpf, open_ebpf},
    {"dispatch", BackendChoice::dispatch, open_dispatch, open_dispatch_unasked},
    {"dispatch-trap", BackendChoice::dispatch_trap, open_dispatch_trap, nullptr},
};

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(BackendChoice choice) {
  Failure why_not;
  for (const Entry& entry : kBackends) {
    const auto open = choice == BackendChoice::automatic ? entry.open_unasked : entry.open;
    if (open == nullptr || (choice != BackendChoice::automatic && choice != entry.choice)) continue;
    Result<std::unique_ptr<Backend>> backend = open();
    if (backend.ok()) return backend;
    if (why_not.reason.empty()) why_not = backend.failure();
  }
  return why_not;
}

std::string describe_calibration(const Calibration& calibration) {
  if (!calibration.measured) return {};
  return std::to_string(std::lround(calibration.armed_ns_per_call)) + " ns added per call while counting";
}

std::vector<BackendHealth> examine_backends() {
  std::vector<BackendHealth> healths;
  for (const Entry& entry : kBackends) {
    if (entry.open_unasked == nullptr) continue;
    BackendHealth& health = healths.emplace_back();
    health.name = entry.name;
    Result<std::unique_ptr<Backend>> backend = entry.open_unasked();
    health.works = backend.ok();
    if (!backend.ok()) {
      health.finding = backend.failure().reason;
      health.how_to_fix = backend.failure().how_to_fix;
      continue;
    }
    health.finding = "opened, and counted 64 of 64 known calls";
    std::string cost = describe_calibration(backend.value()->calibration());
    if (!cost.empty()) health.finding += "; " + cost;
    if (const std::string remark = backend.value()->remark(); !remark.empty()) health.finding += "; " + remark;
  }
  return healths;
}

}  // namespace syscost::session
