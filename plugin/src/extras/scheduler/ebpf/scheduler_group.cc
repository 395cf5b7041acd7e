// SPDX-License-Identifier: MIT
#include "extras/program_groups.h"

#include <bpf/btf.h>

#include <memory>
#include <optional>
#include <string_view>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/libbpf.h"
#include "backends/ebpf/skeleton.h"
#include "extras/scheduler/bpf/scheduler_shared.h"
#include "extras/scheduler/core/scheduler_trace.h"

namespace syscost::ebpf {
namespace {

/// Where the kernel keeps two variables of each CPU, counted from the CPU's run queue. scheduler.bpf.h uses these
/// distances, and checks them at each use.
///
/// The kernel's own list of addresses leaves variables out unless it was built with CONFIG_KALLSYMS_ALL, as Debian's is
/// and others are not. Its type information (BTF) has the offset of each variable of a CPU in their section, which is
/// the same for every CPU.
struct CpuVariables {
  std::int64_t preempt_count_from_queue = 0;
  std::int64_t current_task_from_queue = 0;
};

struct FreeTypes {
  void operator()(btf* types) const { libbpf().btf__free(types); }
};
using Types = std::unique_ptr<btf, FreeTypes>;

/// A variable's type, and its offset in the section of each CPU's variables.
struct Variable {
  __u32 type = 0;
  std::int64_t offset = 0;
};

std::optional<Variable> variable(const btf* types, const char* name) {
  const __s32 section = libbpf().btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC);
  const __s32 id = libbpf().btf__find_by_name_kind(types, name, BTF_KIND_VAR);
  if (section < 0 || id < 0) return std::nullopt;
  const btf_type* all = libbpf().btf__type_by_id(types, static_cast<__u32>(section));
  const btf_var_secinfo* entries = btf_var_secinfos(all);
  for (__u16 i = 0; i < btf_vlen(all); ++i) {
    if (entries[i].type != static_cast<__u32>(id)) continue;
    return Variable{libbpf().btf__type_by_id(types, static_cast<__u32>(id))->type, entries[i].offset};
  }
  return std::nullopt;
}

/// The offset of a member of a structure, or of a structure or union without a name in it; empty if it has none.
std::optional<std::int64_t> member_offset(const btf* types, __u32 type, std::string_view name) {
  const btf_type* structure = libbpf().btf__type_by_id(types, type);
  if (structure == nullptr || !btf_is_composite(structure)) return std::nullopt;
  for (__u16 i = 0; i < btf_vlen(structure); ++i) {
    const btf_member& member = btf_members(structure)[i];
    const std::string_view own = libbpf().btf__name_by_offset(types, member.name_off);
    const std::int64_t offset = btf_member_bit_offset(structure, i) / 8;
    if (own == name) return offset;
    if (!own.empty()) continue;
    if (const auto inner = member_offset(types, member.type, name)) return offset + *inner;
  }
  return std::nullopt;
}

/// From Linux 6.2 to 6.14 both were members of a structure, `pcpu_hot`; before and after, variables.
std::optional<std::int64_t> offset_of(const btf* types, const char* variable_name, std::string_view member) {
  if (const auto own = variable(types, variable_name)) return own->offset;
  const auto hot = variable(types, "pcpu_hot");
  if (!hot) return std::nullopt;
  const auto offset = member_offset(types, hot->type, member);
  if (!offset) return std::nullopt;
  return hot->offset + *offset;
}

/// From the running kernel's type information, 10 ms. Empty if it does not say.
std::optional<CpuVariables> find_cpu_variables() {
  const Types types(libbpf().btf__load_vmlinux_btf());
  if (types == nullptr) return std::nullopt;
  const auto queue = variable(types.get(), "runqueues");
  const auto count = offset_of(types.get(), "__preempt_count", "preempt_count");
  const auto current = offset_of(types.get(), "current_task", "current_task");
  if (!queue || !count || !current) return std::nullopt;
  return CpuVariables{*count - queue->offset, *current - queue->offset};
}

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
