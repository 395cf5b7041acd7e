// SPDX-License-Identifier: MIT
#include "backends/ebpf/programs.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "backends/ebpf/permission.h"
#include "core/own_calls.h"
#include "core/own_descriptors.h"

namespace syscost::ebpf {
namespace {

/// The one thing asked of the kernel's BPF while measuring; without libbpf, which a process that shares does not need.
bool program_info(int program, bpf_prog_info& info) {
  bpf_attr request{};
  request.info.bpf_fd = static_cast<__u32>(program);
  request.info.info_len = sizeof info;
  request.info.info = reinterpret_cast<std::uintptr_t>(&info);
  return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &request, sizeof request) == 0;
}

/// Loading programs leaves room in the heap. Without as much of it here, what the first tests allocate would need brk
/// and mmap, and their counts would depend on whether this process shares or is alone.
void leave_room_in_the_heap() {
  // glibc takes blocks of this size from the heap once one was freed that was not, and keeps what is free of it.
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{512} << 10}) {
    void* volatile block = std::malloc(bytes);
    std::free(block);
  }
}

}  // namespace

Result<Programs> Programs::open(const DetailRequest& details, bool children) {
  if (details.any() || children) {
    Result<Programs> alone = open_alone(details, children);
    if (alone.ok()) {
      alone.value().why_alone_ = children ? "they count children, as --syscost_children asks"
                                          : "they tell calls apart as --syscost_detail asks";
    }
    return alone;
  }
  HelperLink::Obstacle obstacle{};
  Result<Programs> shared = open_shared(obstacle);
  if (shared.ok()) return shared;
  Result<Programs> alone = open_alone({}, false);
  if (alone.ok()) {
    alone.value().why_alone_ = shared.failure().reason;
    return alone;
  }
  Failure failure = alone.failure();
  switch (obstacle) {
    case HelperLink::Obstacle::helper:
      // What it met is what is wrong on this machine; what we met alone may just be that we lack its rights.
      return shared.failure();
    case HelperLink::Obstacle::missing_rights:
      if (gets_capabilities_of_files(read_confinement())) failure.how_to_fix += "; or " + shared.failure().how_to_fix;
      return failure;
    case HelperLink::Obstacle::surroundings:
      return failure;
  }
  return failure;
}

Result<Programs> Programs::open_shared(HelperLink::Obstacle& obstacle) {
  HelperLink::Place place;
  Result<HelperLink> helper = HelperLink::join(place, obstacle);
  if (!helper.ok()) return helper.failure();
  Programs programs;
  programs.helper_.emplace(std::move(helper.value()));
  if (Result<void> taken = programs.take(place); !taken.ok()) return taken.failure();
  leave_room_in_the_heap();
  return programs;
}

ProgramDescriptors Programs::copies(const ProgramDescriptors& descriptors) {
  ProgramDescriptors copied{};
  for (std::size_t i = 0; i < kProgramCount; ++i) copied[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, 3);
  return copied;
}

Result<Programs> Programs::open_alone(const DetailRequest& details, bool children) {
  Result<Pair> pair = Pair::load(details, children);
  if (!pair.ok()) return pair.failure();
  Result<std::vector<Pair::Place>> places = pair.value().make_places(1);
  if (!places.ok()) return places.failure();
  const Pair::Place& place = places.value().front();
  HelperLink::Place ours{
      .cpu_count = pair.value().cpu_count(), .cookie = place.cookie, .map = place.map, .programs = {}, .links = {}};
  Result<ProgramDescriptors> links = open_links(pair.value().programs());
  if (!links.ok()) {
    close(place.map);
    return links.failure();
  }
  ours.links = links.value();
  ours.programs = copies(pair.value().programs());
  Programs programs;
  if (Result<void> taken = programs.take(ours); !taken.ok()) return taken.failure();
  if (details.any()) {
    if (Result<void> mapped = programs.map_details(pair.value().detail_cells()); !mapped.ok()) return mapped.failure();
  }
  if (children) {
    if (Result<void> mapped = programs.map_children(pair.value()); !mapped.ok()) return mapped.failure();
  }
  return programs;
}

Result<void> Programs::take(const HelperLink::Place& place) {
  own_.keep_links(place.links);
  const Result<void> kept = own_.keep_programs(place.programs);
  const std::size_t bytes = map_bytes(place.cpu_count);
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, place.map, 0);
  const int error = errno;
  close(place.map);
  if (start == MAP_FAILED) return errno_failure("map", "the counters", error);
  memory_ = {{static_cast<syscost_block*>(start), map_blocks(place.cpu_count)}, place.cpu_count, place.cookie, {}};
  if (!kept.ok()) return kept.failure();
  return enrol(0);
}

Result<void> Programs::map_details(int map) {
  const std::size_t cells = detail_cells(memory_.cpu_count);
  void* start = mmap(nullptr, page_rounded(cells * sizeof(syscost_cell)), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (start == MAP_FAILED) return errno_failure("map", "the details' counters", errno);
  memory_.detail_cells = {static_cast<syscost_cell*>(start), cells};
  return {};
}

Result<void> Programs::map_children(const Pair& pair) {
  void* start =
      mmap(nullptr, page_rounded(sizeof(syscost_children)), PROT_READ | PROT_WRITE, MAP_SHARED, pair.children(), 0);
  if (start == MAP_FAILED) return errno_failure("map", "what is known of children", errno);
  memory_.children = static_cast<syscost_children*>(start);
  constexpr std::size_t kCells = std::size_t{SYSCOST_BANKS} * SYSCOST_CHILD_SLOTS;
  start = mmap(nullptr, page_rounded(kCells * sizeof(syscost_cell)), PROT_READ | PROT_WRITE, MAP_SHARED,
               pair.child_cells(), 0);
  if (start == MAP_FAILED) return errno_failure("map", "the children's counters", errno);
  memory_.child_cells = {static_cast<syscost_cell*>(start), kCells};
  tell_own_calls_by(SYSCOST_OWN_CALLS(memory_.cookie));
  // Who is born from here on is known, and counted.
  Result<void> kept = children_.keep_programs(copies(pair.child_programs()));
  if (kept.ok()) kept = children_.attach();
  if (kept.ok()) kept = following_.keep_programs(copies(pair.following_programs()));
  return kept.ok() ? following_.attach() : kept;
}

Result<void> Programs::enrol(std::uint64_t token) const {
  syscost_directory& directory = memory_.directory();
  const std::uint64_t entered = std::atomic_ref(directory.canaries_entered).load();
  if (syscall(SYS_gettid, memory_.cookie, token) < 0) return shut_out();
  if (std::atomic_ref(directory.canaries_entered).load() != entered) return {};
  return Failure{helper_ ? "another copy of syscost in this process shares the programs already"
                         : "the BPF programs do not see this process",
                 "report this with the output of --syscost_doctor and uname -a"};
}

Programs::Programs(Programs&& other) noexcept
    : helper_(std::move(other.helper_)),
      why_alone_(std::move(other.why_alone_)),
      own_(std::exchange(other.own_, {})),
      children_(std::exchange(other.children_, {})),
      following_(std::exchange(other.following_, {})),
      memory_(std::exchange(other.memory_, {})) {}

Programs::~Programs() {
  for (Set* set : {&following_, &children_, &own_}) {
    set->detach();
    for (int& fd : set->programs) close_descriptor(fd);
  }
  if (!memory_.blocks.empty()) munmap(memory_.blocks.data(), map_bytes(memory_.cpu_count));
  if (memory_.children != nullptr) tell_own_calls_by(0);
  if (memory_.children != nullptr) munmap(memory_.children, page_rounded(sizeof(syscost_children)));
  for (const std::span<syscost_cell> cells : {memory_.detail_cells, memory_.child_cells}) {
    if (!cells.empty()) munmap(cells.data(), page_rounded(cells.size_bytes()));
  }
}

// ---- attachment -----------------------------------------------------------------------------------------------------

Result<void> Programs::Set::keep_programs(const ProgramDescriptors& descriptors) {
  for (std::size_t i = 0; i < kProgramCount; ++i) programs[i] = keep_descriptor(descriptors[i]);
  for (std::size_t i = 0; i < kProgramCount; ++i) {
    bpf_prog_info info{};
    if (!program_info(programs[i], info)) return errno_failure("ask for", "missed runs of the BPF programs", errno);
    ids[i] = info.id;
  }
  return {};
}

void Programs::Set::keep_links(const ProgramDescriptors& descriptors) {
  for (std::size_t i = 0; i < kProgramCount; ++i) links[i] = keep_descriptor(descriptors[i]);
}

Result<void> Programs::Set::attach() {
  if (!is_loaded() || links[0] >= 0) return {};
  Result<ProgramDescriptors> opened = open_links(programs);
  if (!opened.ok()) return opened.failure();
  keep_links(opened.value());
  return {};
}

void Programs::Set::detach() {
  for (std::size_t i = kProgramCount; i-- > 0;) close_descriptor(links[i]);
}

Result<void> Programs::attach(std::uint64_t token) {
  if (own_.links[0] >= 0) return {};
  if (!helper_) {
    Result<void> attached = own_.attach();
    return attached.ok() ? children_.attach() : attached;
  }
  Result<ProgramDescriptors> links = helper_->attach();
  if (!links.ok()) return links.failure();
  own_.keep_links(links.value());
  return enrol(token);
}

void Programs::detach() {
  children_.detach();
  own_.detach();
  if (helper_) helper_->detach();
}

Failure taken_away() {
  return {"syscost's BPF programs are not attached any more: something closed their file descriptors",
          "do not close descriptors that the test did not open (close_range, closefrom)"};
}

Failure shut_out() {
  return {"a seccomp filter of the test's denies what syscost calls between windows",
          "let it pass gettid, bpf and getrusage, or put code that needs such a filter into a fork child"};
}

Result<std::uint64_t> Programs::missed_runs() const {
  std::uint64_t missed = 0;
  for (const Set* set : {&own_, &children_, &following_}) {
    for (std::size_t i = 0; set->is_loaded() && i < kProgramCount; ++i) {
      bpf_prog_info info{};
      const int error = program_info(set->programs[i], info) ? 0 : errno;
      if (error == EPERM || error == EACCES || error == ENOSYS) return shut_out();
      if (error != 0 || info.id != set->ids[i]) return taken_away();
      missed += info.recursion_misses;
    }
  }
  return missed;
}

}  // namespace syscost::ebpf
