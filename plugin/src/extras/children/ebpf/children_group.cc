// SPDX-License-Identifier: MIT
#include "extras/program_groups.h"

#include "backends/ebpf/skeleton.h"
#include "extras/children/bpf/children_shared.h"

namespace syscost::ebpf {
namespace {

class ChildrenGroup final : public ProgramGroup {
 public:
  std::string_view flag() const override { return "--syscost_children"; }
  std::uint32_t wanted(const BackendRequest& request) const override {
    return request.find<OtherProgramsWish>() ? 1 : 0;
  }
  bool counts_calls() const override { return true; }

  std::vector<bpf_map*> maps(const syscost_bpf& object) const override {
    const auto& all = object.maps;
    return {all.children,          all.child_cells,   all.child_slots,
            all.child_error_slots, all.child_threads, all.program_numbers};
  }
  std::vector<SharedMap> shared_maps(std::uint32_t /*wanted*/) const override {
    return {{[](const syscost_bpf& object) { return object.maps.children; }, sizeof(syscost_children),
             "the table of children"},
            {[](const syscost_bpf& object) { return object.maps.child_cells; },
             std::size_t{SYSCOST_BANKS} * SYSCOST_CHILD_SLOTS * sizeof(syscost_cell), "the children's counters"}};
  }

  Programs programs(const syscost_bpf& object, Attachment attachment) const override {
    const auto& all = object.progs;
    // The program for births is attached last, because a child that is followed must be followed to its end.
    if (attachment == Attachment::raw_tracepoints) {
      return {.counting = {all.on_child_enter, all.on_child_exit, all.on_child_deliver},
              .watching = {},
              .following = {all.on_child_exec, all.on_child_end, all.on_fork}};
    }
    return {.counting = {all.event_ch_enter, all.event_ch_exit, all.event_ch_signal},
            .watching = {},
            .following = {all.event_ch_exec, all.event_ch_end, all.on_fork}};
  }
};

}  // namespace

const ProgramGroup& children_group() {
  static const ChildrenGroup group;
  return group;
}

}  // namespace syscost::ebpf
