// SPDX-License-Identifier: MIT
#include "session/backends.h"

#include <cmath>

#if SYSCOST_HAS_EBPF
#include "backends/ebpf/ebpf_backend.h"
#endif
#if SYSCOST_HAS_SECCOMP
#include "backends/seccomp/seccomp_backend.h"
#endif

namespace syscost::session {
namespace {

/// What trying a backend showed: what it costs, as far as that was measured.
using Tried = Result<Calibration>;

[[maybe_unused]] Failure built_without(const char* backend, const char* library) {
  return {std::string("this libsyscost was built without the ") + backend + " backend",
          std::string("build it where ") + library + " is installed (Debian: apt-get install " + library + "-dev)"};
}

Failure counts_no_children(const char* backend) {
  return {std::string("backend ") + backend + " does not count children (--syscost_children) in this version",
          "take --syscost_backend seccomp, or leave --syscost_children out"};
}

Result<std::unique_ptr<Backend>> open_ebpf(const Filter*, bool children) {
  if (children) return counts_no_children("ebpf");
#if SYSCOST_HAS_EBPF
  return ebpf::open_backend();
#else
  return built_without("eBPF", "libbpf");
#endif
}

/// Opening it leaves nothing behind (docs/decisions/0003).
Tried try_ebpf() {
  Result<std::unique_ptr<Backend>> backend = open_ebpf(nullptr, false);
  if (!backend.ok()) return backend.failure();
  return backend.value()->calibration();
}

Result<std::unique_ptr<Backend>> open_seccomp([[maybe_unused]] const Filter* filter, [[maybe_unused]] bool children) {
#if SYSCOST_HAS_SECCOMP
  return seccomp::open_backend(filter, children);
#else
  return built_without("seccomp", "libseccomp");
#endif
}

/// A filter stays for good, so a child is put under it.
Tried try_seccomp() {
#if SYSCOST_HAS_SECCOMP
  Result<void> probed = seccomp::probe_backend();
  if (!probed.ok()) return probed.failure();
  return Calibration{};
#else
  return built_without("seccomp", "libseccomp");
#endif
}

struct Entry {
  const char* name;
  BackendChoice choice;
  Result<std::unique_ptr<Backend>> (*open)(const Filter* filter, bool children);
  Tried (*attempt)();
};

/// In the order in which `automatic` tries them.
constexpr Entry kBackends[] = {
    {"ebpf", BackendChoice::ebpf, open_ebpf, try_ebpf},
    {"seccomp", BackendChoice::seccomp, open_seccomp, try_seccomp},
};

std::string& passed_over_text() {
  static auto* const text = new std::string;  // never destroyed: static destructors may still measure
  return *text;
}

std::string without_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void add(std::string& list, const std::string& item) {
  list.append(list.empty() ? "" : "; ").append(item);
}

Result<std::unique_ptr<Backend>> open_first(const Filter* filter, bool children) {
  std::string reasons, fixes, passed;
  for (const Entry& entry : kBackends) {
    Result<std::unique_ptr<Backend>> backend = entry.open(filter, children);
    if (backend.ok()) {
      passed_over_text() = passed;
      return backend;
    }
    const Failure& why_not = backend.failure();
    add(reasons, std::string(entry.name) + ": " + without_stop(why_not.reason));
    add(fixes, std::string(entry.name) + ": " + without_stop(why_not.how_to_fix));
    add(passed, std::string(entry.name) + ": " + without_stop(why_not.reason) +
                    " (fix: " + without_stop(why_not.how_to_fix) + ")");
  }
  return Failure{"no backend can count here; " + reasons, fixes};
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(BackendChoice choice, const Filter* filter, bool children) {
  passed_over_text().clear();
  for (const Entry& entry : kBackends) {
    if (choice == entry.choice) return entry.open(filter, children);
  }
  return open_first(filter, children);
}

std::string passed_over() {
  return passed_over_text();
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
    const Tried tried = entry.attempt();
    health.works = tried.ok();
    if (!tried.ok()) {
      health.finding = tried.failure().reason;
      health.how_to_fix = tried.failure().how_to_fix;
      continue;
    }
    health.finding = "opened, and counted 64 of 64 known calls";
    const std::string cost = describe_calibration(tried.value());
    if (!cost.empty()) health.finding += "; " + cost;
  }
  return healths;
}

}  // namespace syscost::session
