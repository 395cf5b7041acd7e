// SPDX-License-Identifier: MIT
#include "backends/ebpf/loaded_programs.h"

#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/libbpf.h"
#include "backends/ebpf/skeleton.h"
#include "os/descriptors.h"

namespace syscost::ebpf {
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

// ---- programs -------------------------------------------------------------------------------------------------------

/// Those that count the calls of the process itself.
std::vector<bpf_program*> own_programs(const syscost_bpf& skeleton, Attachment attachment) {
  const auto& all = skeleton.progs;
  if (attachment == Attachment::raw_tracepoints) return {all.on_sys_enter, all.on_sys_exit, all.on_signal_deliver};
  return {all.event_enter, all.event_exit, all.event_signal};
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<int> descriptors_of(const std::vector<bpf_program*>& programs) {
  std::vector<int> descriptors;
  for (bpf_program* program : programs) descriptors.push_back(libbpf().bpf_program__fd(program));
  return descriptors;
}

/// By default the object loads no program, but it would make the maps of all groups.
int choose_programs(syscost_bpf& skeleton, Attachment attachment, const ProgramRequest& request) {
  std::vector<bpf_program*> wanted = own_programs(skeleton, attachment);
  for (std::size_t i = 0; i < program_groups().size(); ++i) {
    const ProgramGroup& group = *program_groups()[i];
    const std::uint32_t much = request.wanted[i];
    for (bpf_map* map : group.maps(skeleton)) {
      if (const int error = libbpf().bpf_map__set_autocreate(map, much > 0); error != 0) return error;
    }
    if (much == 0) continue;
    group.prepare(skeleton, much);
    const ProgramGroup::Programs its = group.programs(skeleton, attachment);
    for (const auto* some : {&its.counting, &its.watching, &its.following}) append(wanted, *some);
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
  for (const auto& [group, much] : groups_of(request)) {
    if (Result<void> possible = group->check_kernel(); !possible.ok()) return possible.failure();
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
  pair.request_ = request;
  pair.attachment_ = attachment_for_this_kernel();
  pair.skeleton_.reset(syscost_bpf__open());
  if (!pair.skeleton_) return loading_failure("open the BPF object", errno, log.words());
  pair.skeleton_->rodata->cpu_count = pair.cpu_count_;
  if (details.any()) {
    ask_for_details(*pair.skeleton_->rodata, details);
    libbpf().bpf_map__set_max_entries(pair.skeleton_->maps.detail_cells, ebpf::detail_cells(pair.cpu_count_));
    libbpf().bpf_map__set_max_entries(pair.skeleton_->maps.detail_slots, SYSCOST_DETAIL_SLOTS);
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
  std::vector<bpf_program*> programs = own_programs(*skeleton_, attachment_);
  for (const auto& [group, much] : groups_of(request_))
    append(programs, group->programs(*skeleton_, attachment_).counting);
  return descriptors_of(programs);
}

std::vector<int> LoadedPrograms::following_programs() const {
  std::vector<bpf_program*> programs;
  for (const auto& [group, much] : groups_of(request_))
    append(programs, group->programs(*skeleton_, attachment_).following);
  return descriptors_of(programs);
}

std::vector<int> LoadedPrograms::programs() const {
  std::vector<int> programs = counting_programs();
  append(programs, following_programs());
  return programs;
}

std::vector<int> LoadedPrograms::attached_programs() const {
  std::vector<int> programs = counting_programs();
  for (const auto& [group, much] : groups_of(request_)) {
    append(programs, descriptors_of(group->programs(*skeleton_, attachment_).watching));
  }
  return programs;
}

std::vector<int> LoadedPrograms::further_maps() const {
  std::vector<int> maps;
  if (request_.details.any()) maps.push_back(libbpf().bpf_map__fd(skeleton_->maps.detail_cells));
  for (const auto& [group, much] : groups_of(request_)) {
    for (const SharedMap& shared : group->shared_maps(much))
      maps.push_back(libbpf().bpf_map__fd(shared.of(*skeleton_)));
  }
  return maps;
}

Result<int> LoadedPrograms::make_map() const {
  bpf_map_create_opts options{};  // not LIBBPF_OPTS: newer clangs warn of it
  options.sz = sizeof(options);
  options.map_flags = BPF_F_MMAPABLE;
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
