// SPDX-License-Identifier: MIT
#include "backends/ebpf/loaded_programs.h"

#include <bpf/btf.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/libbpf.h"
#include "backends/ebpf/skeleton.h"
#include "os/descriptors.h"

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

namespace {

// ---- places ---------------------------------------------------------------------------------------------------------

std::uint64_t new_cookie(std::uint32_t process) {
  std::uint64_t cookie = 0;
  if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie) return 0;
  // The highest bit makes it implausible as an argument of anything.
  return (cookie & ~std::uint64_t{SYSCOST_PROCESSES - 1}) | process | 1ULL << 63;
}

static_assert((SYSCOST_PROCESSES & (SYSCOST_PROCESSES - 1)) == 0);

// ---- details --------------------------------------------------------------------------------------------------------

/// Writes the requested details into the object's constants.
void ask_for_details(syscost_bpf::syscost_bpf__rodata& constants, const DetailRequest& details) {
  constants.with_details = true;
  constants.details_ioctls = details.ioctls;
  constants.details_files = details.files;
  for (const RequestRule& rule : details.rules) {
    if (constants.rule_count == SYSCOST_RULES) break;
    constants.rules[constants.rule_count++] = {.device = rule.device,
                                               .device_mask = rule.device_mask,
                                               .request = rule.request,
                                               .request_mask = rule.request_mask,
                                               .command_at = rule.command_at,
                                               .status_at = rule.status_at};
  }
  for (const std::string& name : details.driver_threads) {
    if (constants.thread_name_count == SYSCOST_THREAD_NAMES) break;
    auto& entry = constants.thread_names[constants.thread_name_count++];
    const std::size_t length = std::min(name.size(), kMaxThreadName);
    std::memcpy(&entry.bits, name.data(), length);
    std::memset(&entry.mask, 0xff, length);
  }
}

// ---- the scheduler's events -----------------------------------------------------------------------------------------

void ask_for_scheduler_events(syscost_bpf::syscost_bpf__rodata& constants, std::uint32_t room) {
  constants.scheduler_room = room;
  const std::optional<CpuVariables> variables = find_cpu_variables();
  constants.has_preempt_count = variables.has_value();
  if (!variables) return;
  constants.preempt_count_from_queue = variables->preempt_count_from_queue;
  constants.current_task_from_queue = variables->current_task_from_queue;
}

// ---- programs -------------------------------------------------------------------------------------------------------

std::vector<bpf_program*> counting_programs_of(const syscost_bpf& skeleton, Attachment attachment, bool children) {
  const auto& all = skeleton.progs;
  std::vector<bpf_program*> counting = attachment == Attachment::raw_tracepoints
                                           ? std::vector{all.on_sys_enter,   all.on_sys_exit,   all.on_signal_deliver,
                                                         all.on_child_enter, all.on_child_exit, all.on_child_deliver}
                                           : std::vector{all.event_enter,    all.event_exit,    all.event_signal,
                                                         all.event_ch_enter, all.event_ch_exit, all.event_ch_signal};
  if (!children) counting.resize(counting.size() / 2);
  return counting;
}

std::vector<bpf_program*> following_programs_of(const syscost_bpf& skeleton, Attachment attachment) {
  const auto& all = skeleton.progs;
  // The program for births is attached last, because a child that is followed must be followed to its end.
  if (attachment == Attachment::raw_tracepoints) return {all.on_child_exec, all.on_child_end, all.on_fork};
  return {all.event_ch_exec, all.event_ch_end, all.on_fork};
}

std::vector<bpf_program*> scheduler_programs_of(const syscost_bpf& skeleton) {
  const auto& all = skeleton.progs;
  return {all.on_switch, all.on_waking, all.on_creation, all.on_packet_sent, all.on_packet, all.on_packets_end};
}

std::vector<int> descriptors_of(const std::vector<bpf_program*>& programs) {
  std::vector<int> descriptors;
  for (bpf_program* program : programs) descriptors.push_back(libbpf().bpf_program__fd(program));
  return descriptors;
}

/// By default the object loads no program for children or the scheduler, but it would make their maps all the same.
int choose_programs(syscost_bpf& skeleton, Attachment attachment, const ProgramRequest& request) {
  const bool children = request.children;
  const bool scheduler = request.scheduler_events > 0;
  for (bpf_map* map : {skeleton.maps.scheduler_events, skeleton.maps.packets, skeleton.maps.received}) {
    if (const int error = libbpf().bpf_map__set_autocreate(map, scheduler); error != 0) return error;
  }
  for (bpf_map* map : {skeleton.maps.children, skeleton.maps.child_cells, skeleton.maps.child_slots,
                       skeleton.maps.child_error_slots, skeleton.maps.child_threads, skeleton.maps.program_numbers}) {
    if (const int error = libbpf().bpf_map__set_autocreate(map, children); error != 0) return error;
  }
  std::vector<bpf_program*> wanted = counting_programs_of(skeleton, attachment, children);
  if (children) {
    const std::vector<bpf_program*> following = following_programs_of(skeleton, attachment);
    wanted.insert(wanted.end(), following.begin(), following.end());
  }
  if (scheduler) {
    const std::vector<bpf_program*> further = scheduler_programs_of(skeleton);
    wanted.insert(wanted.end(), further.begin(), further.end());
  }
  for (bpf_program* program : wanted) {
    if (const int error = libbpf().bpf_program__set_autoload(program, true); error != 0) return error;
  }
  return 0;
}

// ---- failures -------------------------------------------------------------------------------------------------------

/// libbpf continues after it failed to get some of its descriptors, and later fails for another reason.
bool is_short_of_descriptors() {
  constexpr std::size_t kAtLeast = 24;  // for maps, programs and what libbpf asks the kernel
  std::vector<int> tried;
  while (tried.size() < kAtLeast) {
    const int descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor < 0) break;
    tried.push_back(descriptor);
  }
  close_each(tried);
  return tried.size() < kAtLeast;
}

Failure loading_failure(std::string_view step, int error, const LibbpfWords& said) {
  return is_short_of_descriptors() ? errno_failure(step, "for eBPF", EMFILE) : explain_failure(step, error, said);
}

}  // namespace

std::uint32_t map_blocks(std::uint32_t cpu_count) {
  return SYSCOST_FIRST_BANK + SYSCOST_BANKS * (cpu_count + SYSCOST_LANES - 1);
}

std::size_t map_bytes(std::uint32_t cpu_count) {
  return page_rounded(map_blocks(cpu_count) * sizeof(syscost_block));
}

std::uint32_t detail_cells(std::uint32_t cpu_count) {
  return SYSCOST_BANKS * (cpu_count + SYSCOST_LANES - 1) * SYSCOST_DETAIL_SLOTS;
}

std::size_t page_rounded(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::uint64_t build_hash() {
  // FNV-1a. The object holds code, maps and their types. The protocol of helper and process has a version.
  static const std::uint64_t kHash = [] {
    std::size_t size = 0;
    const auto* bytes = static_cast<const unsigned char*>(syscost_bpf__elf_bytes(&size));
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
  }();
  return kHash;
}

void LoadedPrograms::Destroy::operator()(syscost_bpf* skeleton) const {
  syscost_bpf__destroy(skeleton);
}

LoadedPrograms::LoadedPrograms(LoadedPrograms&& other) noexcept = default;
LoadedPrograms::~LoadedPrograms() = default;

Result<LoadedPrograms> LoadedPrograms::load(const ProgramRequest& request) {
  const DetailRequest& details = request.details;
  if (request.scheduler_events > 0 && !kernel_is_at_least(5, 15)) {
    return Failure{"the kernel is too old to show what its scheduler does (--syscost_sched): that needs Linux 5.15",
                   "leave --syscost_sched out"};
  }
  if (Result<const LibbpfApi*> api = open_libbpf(); !api.ok()) return api.failure();
  const LibbpfLog log;
  const int cpus = libbpf().libbpf_num_possible_cpus();
  if (cpus <= 0) return explain_failure("count the possible CPUs", -cpus, log.words());
  if (cpus > SYSCOST_MAX_CPUS) {
    return Failure{"this machine may have " + std::to_string(cpus) + " CPUs; the eBPF backend is built for " +
                       std::to_string(SYSCOST_MAX_CPUS),
                   "raise SYSCOST_MAX_CPUS in shared.h and run tools/make_skeleton"};
  }
  LoadedPrograms pair(static_cast<std::uint32_t>(cpus));
  pair.has_details_ = details.any();
  pair.has_children_ = request.children;
  pair.has_scheduler_events_ = request.scheduler_events > 0;
  pair.attachment_ = attachment_for_this_kernel();
  pair.skeleton_.reset(syscost_bpf__open());
  if (!pair.skeleton_) return loading_failure("open the BPF object", errno, log.words());
  pair.skeleton_->rodata->cpu_count = pair.cpu_count_;
  if (details.any()) {
    ask_for_details(*pair.skeleton_->rodata, details);
    libbpf().bpf_map__set_max_entries(pair.skeleton_->maps.detail_cells, ebpf::detail_cells(pair.cpu_count_));
    libbpf().bpf_map__set_max_entries(pair.skeleton_->maps.detail_slots, SYSCOST_DETAIL_SLOTS);
  }

  if (request.scheduler_events > 0) {
    ask_for_scheduler_events(*pair.skeleton_->rodata, request.scheduler_events);
    libbpf().bpf_map__set_max_entries(pair.skeleton_->maps.scheduler_events, 1 + request.scheduler_events);
  }

  if (const int error = choose_programs(*pair.skeleton_, pair.attachment_, request); error != 0) {
    return explain_failure("choose among the BPF programs", -error, log.words());
  }

  // libbpf 1.1 cannot change the size of a declared inner map; it can be shown another one.
  Result<int> pattern = pair.make_map();
  if (!pattern.ok()) return pattern.failure();
  int error = libbpf().bpf_map__set_inner_map_fd(pair.skeleton_->maps.processes, pattern.value());
  if (error == 0) error = syscost_bpf__load(pair.skeleton_.get());
  close(pattern.value());
  if (error != 0) return loading_failure("load the programs", -error, log.words());
  return pair;
}

std::vector<int> LoadedPrograms::counting_programs() const {
  return descriptors_of(counting_programs_of(*skeleton_, attachment_, has_children_));
}

std::vector<int> LoadedPrograms::following_programs() const {
  if (!has_children_) return {};
  return descriptors_of(following_programs_of(*skeleton_, attachment_));
}

std::vector<int> LoadedPrograms::programs() const {
  std::vector<int> programs = counting_programs();
  const std::vector<int> following = following_programs();
  programs.insert(programs.end(), following.begin(), following.end());
  return programs;
}

std::vector<int> LoadedPrograms::counting_and_scheduler_programs() const {
  std::vector<int> programs = counting_programs();
  if (has_scheduler_events_) {
    const std::vector<int> further = descriptors_of(scheduler_programs_of(*skeleton_));
    programs.insert(programs.end(), further.begin(), further.end());
  }
  return programs;
}

std::vector<int> LoadedPrograms::further_maps() const {
  std::vector<int> maps;
  if (has_details_) maps.push_back(libbpf().bpf_map__fd(skeleton_->maps.detail_cells));
  if (has_children_) {
    maps.push_back(libbpf().bpf_map__fd(skeleton_->maps.children));
    maps.push_back(libbpf().bpf_map__fd(skeleton_->maps.child_cells));
  }
  if (has_scheduler_events_) maps.push_back(libbpf().bpf_map__fd(skeleton_->maps.scheduler_events));
  return maps;
}

Result<int> LoadedPrograms::make_map() const {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
  const int map = libbpf().bpf_map_create(BPF_MAP_TYPE_ARRAY, "syscost_process", sizeof(__u32), sizeof(syscost_block),
                                          map_blocks(cpu_count_), &options);
  if (map < 0) return loading_failure("make a process's map of counters", -map, {});
  return map;
}

Result<std::vector<LoadedPrograms::ProcessSlot>> LoadedPrograms::make_slots(std::size_t count) {
  std::vector<ProcessSlot> places;
  Failure why{"all " + std::to_string(SYSCOST_PROCESSES) + " places of the pair of programs are taken",
              "measure fewer processes at once"};
  for (std::uint32_t process = 0; process < SYSCOST_PROCESSES && places.size() < count; ++process) {
    if (skeleton_->bss->enrolments[process].cookie != 0) continue;
    Result<int> map = make_map();
    if (!map.ok()) {
      why = map.failure();
      break;
    }
    places.push_back({process, new_cookie(process), map.value()});
  }
  if (places.empty()) return why;

  const int processes = libbpf().bpf_map__fd(skeleton_->maps.processes);
  std::vector<__u32> keys;
  std::vector<int> values;
  for (const ProcessSlot& place : places) {
    keys.push_back(place.process);
    values.push_back(place.map);
  }
  auto inserted = static_cast<__u32>(places.size());
  int error = libbpf().bpf_map_update_batch(processes, keys.data(), values.data(), &inserted, nullptr);
  // Kernels that know no batches of maps take them one by one.
  for (std::size_t i = 0; error != 0 && i < places.size(); ++i) {
    const int one = libbpf().bpf_map_update_elem(processes, &keys[i], &values[i], BPF_ANY);
    if (one != 0) {
      for (const ProcessSlot& place : places) close(place.map);
      return explain_failure("show the programs a process's map", -one, {});
    }
  }
  for (const ProcessSlot& place : places) {
    syscost_enrolment& enrolment = skeleton_->bss->enrolments[place.process];
    enrolment.serial = ++serial_;
    slots_ = std::max(slots_, place.process + 1);
    enrolment.refusal = SYSCOST_NOT_REFUSED;
    std::atomic_ref(enrolment.cookie).store(place.cookie);
  }
  return places;
}

void LoadedPrograms::dismiss(std::uint32_t process) {
  for (auto& bucket : skeleton_->bss->targets) {
    for (__u64& target : bucket) {
      if (SYSCOST_TARGET_PROCESS_PLUS_1(std::atomic_ref(target).load()) == process + 1) {
        std::atomic_ref(target).store(0);
      }
    }
  }
}

void LoadedPrograms::give_back(std::uint32_t process) {
  syscost_enrolment& enrolment = skeleton_->bss->enrolments[process];
  std::atomic_ref(enrolment.cookie).store(0);
  // Before the place's next map: find_current() in state.bpf.h relies on it.
  std::atomic_ref(enrolment.start).store(0);
  dismiss(process);
}

std::uint32_t LoadedPrograms::refusal_of(std::uint32_t process) const {
  return std::atomic_ref(skeleton_->bss->enrolments[process].refusal).load();
}

}  // namespace syscost::ebpf
