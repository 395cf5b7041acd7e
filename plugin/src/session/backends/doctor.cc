// SPDX-License-Identifier: MIT
#include "session/backends/doctor.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "core/cost_data.h"
#include "core/window_book.h"
#include "os/memory.h"
#include "os/text.h"
#include "session/backends/open_backend.h"
#include "syscost/histogram.h"

namespace syscost::session {

std::optional<std::uint64_t> latency_of_getppid(Backend& backend) {
  constexpr int kCalls = 1000;
  if (!backend.capabilities().latency) return std::nullopt;
  WindowBook book(backend, quiet_memory());
  WindowBook::Window* window = book.open(Reach::process);
  for (int i = 0; i < kCalls; ++i) syscall(SYS_getppid);
  detail::CostData cost(&quiet_memory());
  book.close(window, cost);
  const Tally* tally = cost.table.find({kNativeAbi, SYS_getppid});
  if (tally == nullptr || tally->latency.count() == 0) return std::nullopt;
  return tally->latency.dense().percentile_ns(0.5);
}

std::string describe_latencies(std::optional<std::uint64_t> ebpf_ns, std::optional<std::uint64_t> dispatch_ns) {
  if (!ebpf_ns || !dispatch_ns) return {};
  std::string text = "a getppid takes " + std::to_string(*ebpf_ns) + " ns by ebpf, " + std::to_string(*dispatch_ns) +
                     " ns by dispatch (medians): ";
  const std::size_t ebpf = histogram_bucket(*ebpf_ns);
  const std::size_t dispatch = histogram_bucket(*dispatch_ns);
  if (ebpf <= dispatch + 1 && dispatch <= ebpf + 1) return text + "they agree within one bucket of the histogram";
  const std::uint64_t between = *dispatch_ns > *ebpf_ns ? *dispatch_ns - *ebpf_ns : *ebpf_ns - *dispatch_ns;
  text += std::to_string(between);
  return text + (*dispatch_ns > *ebpf_ns ? " ns more by dispatch, which includes the way into the kernel and back"
                                         : " ns more by ebpf, which includes part of its own programs");
}

namespace {

constexpr const char* kTracefs = "/sys/kernel/tracing";

/// "CAP_BPF granted, CAP_PERFMON not granted".
std::string granted(std::uint64_t bounding) {
  return std::string("CAP_BPF ") + (holds(bounding, CAP_BPF) ? "granted" : "not granted") + ", CAP_PERFMON " +
         (holds(bounding, CAP_PERFMON) ? "granted" : "not granted");
}

}  // namespace

std::string describe_container(const Confinement& here, bool has_tracefs) {
  if (here.container == Container::none) return {};
  std::string text = "  container of " + std::string(container_name(here.container)) + ": ";
  if (here.container == Container::other) text = "  container of an unknown engine: ";
  text += granted(here.bounding);
  text += here.has_seccomp_filter ? ", seccomp profile on" : ", no seccomp profile";
  if (here.no_new_privileges) text += ", no-new-privileges set";
  if (here.in_user_namespace) text += ", in a user namespace";
  text += "\n";
  if (!has_tracefs) {
    text +=
        "  container without tracefs: --syscost_profile bpftrace finds no tracepoints; "
        "before Linux 7.0 counting does not need it\n";
    text += "         fix: " + mount_setting(here.container, kTracefs) + "\n";
  }
  return text;
}

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
