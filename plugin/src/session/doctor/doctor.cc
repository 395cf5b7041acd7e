// SPDX-License-Identifier: MIT
#include "session/doctor/doctor.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "os/typed_flags.h"
#include "session/doctor/backends.h"
#include "session/doctor/container_report.h"
#include "session/doctor/known_latency.h"

namespace syscost::session {
namespace {

std::optional<std::uint64_t> getppid_ns_of(const std::vector<BackendHealth>& healths, std::string_view name) {
  for (const BackendHealth& health : healths) {
    if (health.name == name) return health.getppid_ns;
  }
  return std::nullopt;
}

}  // namespace

int run_doctor() {
  utsname system{};
  uname(&system);
  std::printf("syscost doctor: what can measure syscalls here\n");
  std::printf("  kernel %s %s, user id %u\n", system.release, system.machine, static_cast<unsigned>(geteuid()));
  std::fputs(describe_container(read_confinement(), has_tracefs()).c_str(), stdout);
  const BackendHealth* chosen = nullptr;
  const std::vector<BackendHealth> healths = examine_backends();
  for (const BackendHealth& health : healths) {
    std::printf("  %-8s %s: %s\n", health.name.c_str(), health.works ? "works" : "does not work",
                health.finding.c_str());
    if (!health.works) std::printf("           fix: %s\n", as_typed(health.how_to_fix).c_str());
    if (health.works && chosen == nullptr) chosen = &health;
  }
  std::printf("  none     works: times only, every count stays empty\n");
  const std::string latencies = describe_latencies(getppid_ns_of(healths, "ebpf"), getppid_ns_of(healths, "dispatch"));
  if (!latencies.empty()) std::printf("latency: %s\n", latencies.c_str());
  if (chosen != nullptr) {
    std::printf("%s auto would take %s.\n", as_typed("--syscost_backend").c_str(), chosen->name.c_str());
  } else {
    std::printf("Nothing can count here: %s would end with exit code 2.\n",
                as_typed("--syscost_csv and --syscost_profile").c_str());
  }
  std::fflush(stdout);
  return chosen != nullptr ? 0 : 1;
}

}  // namespace syscost::session
