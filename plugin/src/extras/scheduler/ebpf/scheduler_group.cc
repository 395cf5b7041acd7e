// SPDX-License-Identifier: MIT
#include "extras/scheduler/ebpf/scheduler_group.h"

#include <optional>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/skeleton.h"
#include "extras/scheduler/bpf/scheduler_shared.h"
#include "extras/scheduler/core/scheduler_wish.h"
#include "extras/scheduler/ebpf/cpu_variables.h"

namespace syscost::ebpf {
namespace {

class SchedulerGroup final : public ProgramGroup {
 public:
  std::string_view flag() const override { return "--syscost_sched"; }
  std::uint32_t wanted(const BackendRequest& request) const override {
    const SchedulerWish* const wish = request.find<SchedulerWish>();
    return wish != nullptr ? wish->events : 0;
  }
  std::uint32_t most() const override { return (1U << 24) - 1; }  // 1 GiB
  bool counts_calls() const override { return false; }
  Result<void> check_kernel() const override {
    if (kernel_is_at_least(5, 15)) return {};
    return Failure{"the kernel is too old to show what its scheduler does (--syscost_sched): that needs Linux 5.15",
                   "leave --syscost_sched out"};
  }

  std::vector<bpf_map*> maps(const syscost_bpf& object) const override {
    return {object.maps.scheduler_events, object.maps.packets, object.maps.received};
  }
  std::vector<SharedMap> shared_maps(std::uint32_t wanted) const override {
    return {{[](const syscost_bpf& object) { return object.maps.scheduler_events; },
             (std::size_t{1} + wanted) * sizeof(syscost_scheduler_block), "the scheduler's events"}};
  }
  void prepare(syscost_bpf& object, std::uint32_t wanted) const override {
    libbpf().bpf_map__set_max_entries(object.maps.scheduler_events, 1 + wanted);
    auto& constants = *object.rodata;
    constants.scheduler_room = wanted;
    const std::optional<CpuVariables> variables = find_cpu_variables();
    constants.has_preempt_count = variables.has_value();
    if (!variables) return;
    constants.preempt_count_from_queue = variables->preempt_count_from_queue;
    constants.current_task_from_queue = variables->current_task_from_queue;
  }

  Programs programs(const syscost_bpf& object, Attachment /*attachment*/) const override {
    const auto& all = object.progs;
    return {.counting = {},
            .watching = {all.on_switch, all.on_waking, all.on_creation, all.on_packet_sent, all.on_packet,
                         all.on_packets_end},
            .following = {}};
  }
};

}  // namespace

const ProgramGroup& scheduler_group() {
  static const SchedulerGroup group;
  return group;
}

}  // namespace syscost::ebpf
