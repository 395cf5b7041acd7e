// SPDX-License-Identifier: MIT
#include "session/backends.h"

#include <cmath>

#if SYSCOST_HAS_EBPF
#include "backends/ebpf/ebpf_backend.h"
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

struct Entry {
  const char* name;
  BackendChoice choice;
  Result<std::unique_ptr<Backend>> (*open)();
};

/// In the order in which `automatic` tries them.
constexpr Entry kBackends[] = {{"ebpf", BackendChoice::ebpf, open_ebpf}};

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(BackendChoice choice) {
  Failure why_not;
  for (const Entry& entry : kBackends) {
    if (choice != BackendChoice::automatic && choice != entry.choice) continue;
    Result<std::unique_ptr<Backend>> backend = entry.open();
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
    BackendHealth& health = healths.emplace_back();
    health.name = entry.name;
    Result<std::unique_ptr<Backend>> backend = entry.open();
    health.works = backend.ok();
    if (!backend.ok()) {
      health.finding = backend.failure().reason;
      health.how_to_fix = backend.failure().how_to_fix;
      continue;
    }
    health.finding = "opened, and counted 64 of 64 known calls";
    std::string cost = describe_calibration(backend.value()->calibration());
    if (!cost.empty()) health.finding += "; " + cost;
  }
  return healths;
}

}  // namespace syscost::session
