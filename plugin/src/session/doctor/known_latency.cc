// SPDX-License-Identifier: MIT
#include "session/doctor/known_latency.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "core/cost_data.h"
#include "core/window_book.h"
#include "os/quiet_memory.h"
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

}  // namespace syscost::session
