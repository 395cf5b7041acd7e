// SPDX-License-Identifier: MIT
#include "extras/scheduler/ebpf/cpu_variables.h"

#include <bpf/btf.h>

#include <memory>
#include <string_view>

#include "backends/ebpf/libbpf.h"

namespace syscost::ebpf {
namespace {

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

}  // namespace

std::optional<CpuVariables> find_cpu_variables() {
  const Types types(libbpf().btf__load_vmlinux_btf());
  if (types == nullptr) return std::nullopt;
  const auto queue = variable(types.get(), "runqueues");
  const auto count = offset_of(types.get(), "__preempt_count", "preempt_count");
  const auto current = offset_of(types.get(), "current_task", "current_task");
  if (!queue || !count || !current) return std::nullopt;
  return CpuVariables{*count - queue->offset, *current - queue->offset};
}

}  // namespace syscost::ebpf
