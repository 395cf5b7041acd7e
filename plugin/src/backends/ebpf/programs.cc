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

#include "backends/ebpf/descriptors.h"

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

Result<Programs> Programs::open(const DetailRequest& details) {
  if (details.any()) {
    Result<Programs> alone = open_alone(details);
    if (alone.ok()) alone.value().why_alone_ = "they tell calls apart as --syscost_detail asks";
    return alone;
  }
  HelperLink::Obstacle obstacle{};
  Result<Programs> shared = open_shared(obstacle);
  if (shared.ok()) return shared;
  Result<Programs> alone = open_alone({});
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
      failure.how_to_fix += "; or " + shared.failure().how_to_fix;
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

Result<Programs> Programs::open_alone(const DetailRequest& details) {
  Result<Pair> pair = Pair::load(details);
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
  for (std::size_t i = 0; i < kProgramCount; ++i) {
    ours.programs[i] = fcntl(pair.value().programs()[i], F_DUPFD_CLOEXEC, 3);
  }
  Programs programs;
  if (Result<void> taken = programs.take(ours); !taken.ok()) return taken.failure();
  if (details.any()) {
    if (Result<void> mapped = programs.map_details(pair.value().detail_cells()); !mapped.ok()) return mapped.failure();
  }
  return programs;
}

Result<void> Programs::take(const HelperLink::Place& place) {
  for (std::size_t i = 0; i < kProgramCount; ++i) program_fds_[i] = keep_descriptor(place.programs[i]);
  keep_links(place.links);
  const std::size_t bytes = map_bytes(place.cpu_count);
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, place.map, 0);
  const int error = errno;
  close(place.map);
  if (start == MAP_FAILED) return errno_failure("map", "the counters", error);
  memory_ = {{static_cast<syscost_block*>(start), map_blocks(place.cpu_count)}, place.cpu_count, place.cookie, {}};
  for (std::size_t i = 0; i < kProgramCount; ++i) {
    bpf_prog_info info{};
    if (!program_info(program_fds_[i], info)) return errno_failure("ask for", "missed runs of the BPF programs", errno);
    program_ids_[i] = info.id;
  }
  return enrol(0);
}

Result<void> Programs::map_details(int map) {
  const std::size_t cells = detail_cells(memory_.cpu_count);
  void* start = mmap(nullptr, page_rounded(cells * sizeof(syscost_cell)), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (start == MAP_FAILED) return errno_failure("map", "the details' counters", errno);
  memory_.detail_cells = {static_cast<syscost_cell*>(start), cells};
  return {};
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
      program_fds_(std::exchange(other.program_fds_, {-1, -1, -1})),
      link_fds_(std::exchange(other.link_fds_, {-1, -1, -1})),
      program_ids_(other.program_ids_),
      memory_(std::exchange(other.memory_, {})) {}

Programs::~Programs() {
  for (int& fd : link_fds_) close_descriptor(fd);
  for (int& fd : program_fds_) close_descriptor(fd);
  if (!memory_.blocks.empty()) munmap(memory_.blocks.data(), map_bytes(memory_.cpu_count));
  if (!memory_.detail_cells.empty()) {
    munmap(memory_.detail_cells.data(), page_rounded(memory_.detail_cells.size_bytes()));
  }
}

// ---- attachment -----------------------------------------------------------------------------------------------------

void Programs::keep_links(const ProgramDescriptors& links) {
  for (std::size_t i = 0; i < kProgramCount; ++i) link_fds_[i] = keep_descriptor(links[i]);
}

Result<void> Programs::attach(std::uint64_t token) {
  if (link_fds_[0] >= 0) return {};
  Result<ProgramDescriptors> links = helper_ ? helper_->attach() : open_links(program_fds_);
  if (!links.ok()) return links.failure();
  keep_links(links.value());
  return helper_ ? enrol(token) : Result<void>();
}

void Programs::detach() {
  for (std::size_t i = kProgramCount; i-- > 0;) close_descriptor(link_fds_[i]);
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
  for (std::size_t i = 0; i < kProgramCount; ++i) {
    bpf_prog_info info{};
    const int error = program_info(program_fds_[i], info) ? 0 : errno;
    if (error == EPERM || error == EACCES || error == ENOSYS) return shut_out();
    if (error != 0 || info.id != program_ids_[i]) return taken_away();
    missed += info.recursion_misses;
  }
  return missed;
}

}  // namespace syscost::ebpf
