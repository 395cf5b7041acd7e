// SPDX-License-Identifier: MIT
#include "backends/ebpf/process_attachment.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/segments.h"
#include "os/own_calls.h"
#include "os/own_memory.h"

namespace syscost::ebpf {
namespace {

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

Result<ProcessAttachment> ProcessAttachment::open(const ProgramRequest& request) {
  if (request.needs_own_programs()) {
    Result<ProcessAttachment> alone = open_alone(request);
    const std::string flag(request.details.any() ? "--syscost_detail" : groups_of(request).front().first->flag());
    if (alone.ok()) {
      alone.value().why_alone_ = flag + " needs them";
    } else if (!missing_for_bpf(read_confinement().effective).empty()) {
      const Failure& failure = alone.failure();
      return Failure{
          flag + " needs the capabilities in the test itself, also where syscost's helper has them: " + failure.reason,
          failure.how_to_fix};
    }
    return alone;
  }
  HelperLink::Obstacle obstacle{};
  Result<ProcessAttachment> shared = open_shared(obstacle);
  if (shared.ok()) return shared;
  Result<ProcessAttachment> alone = open_alone({});
  if (alone.ok()) {
    alone.value().why_alone_ = shared.failure().reason;
    return alone;
  }
  Failure failure = alone.failure();
  switch (obstacle) {
    case HelperLink::Obstacle::helper:
      // The helper's failure shows what is wrong on this machine. Ours may only show that we lack the rights of the
      // helper.
      return shared.failure();
    case HelperLink::Obstacle::missing_rights:
      if (gets_capabilities_of_files(read_confinement())) {
        failure.how_to_fix = shared.failure().how_to_fix + "; or " + failure.how_to_fix;
      }
      return failure;
    case HelperLink::Obstacle::surroundings:
      return failure;
  }
  return failure;
}

Result<ProcessAttachment> ProcessAttachment::open_shared(HelperLink::Obstacle& obstacle) {
  Joined joined;
  Result<std::unique_ptr<HelperLink>> helper = HelperLink::join(joined, obstacle);
  if (!helper.ok()) return helper.failure();
  ProcessAttachment programs;
  programs.holder_ = std::move(helper.value());
  if (Result<void> taken = programs.take(joined, {}); !taken.ok()) return taken.failure();
  leave_room_in_the_heap();
  return programs;
}

Result<ProcessAttachment> ProcessAttachment::open_alone(const ProgramRequest& request) {
  ProcessAttachment programs;
  Joined joined;
  HelperLink::Obstacle obstacle{};
  if (request.needs_own_programs()) {
    Result<std::unique_ptr<HelperLink>> helper = HelperLink::start_own(request, joined, obstacle);
    if (helper.ok()) {
      programs.holder_ = std::move(helper.value());
      leave_room_in_the_heap();
    } else if (obstacle == HelperLink::Obstacle::helper) {
      return helper.failure();
    }
  }
  if (programs.holder_ == nullptr) {
    Result<std::unique_ptr<OwnPrograms>> own = OwnPrograms::load(request, joined);
    if (!own.ok()) {
      joined.maps.close_all();
      return own.failure();
    }
    programs.holder_ = std::move(own.value());
  }
  if (Result<void> taken = programs.take(joined, request); !taken.ok()) return taken.failure();
  return programs;
}

// ---- maps -----------------------------------------------------------------------------------------------------------

namespace {

Result<void*> map_shared(int map, std::size_t bytes, const char* what) {
  const std::size_t size = page_rounded(bytes);
  void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (start == MAP_FAILED) return errno_failure("map", what, errno);
  if (madvise(start, size, MADV_DONTFORK) == 0) {
    note_own_mapping(start, size);
    return start;
  }
  const int error = errno;
  munmap(start, size);
  return errno_failure("keep from fork children", what, error);
}

void unmap(void* start, std::size_t bytes) {
  forget_own_mapping(start);
  munmap(start, page_rounded(bytes));
}

}  // namespace

Result<void> ProcessAttachment::take(Joined& joined, const ProgramRequest& request) {
  Result<void> mapped = map_all(joined, request);
  joined.maps.close_all();
  if (!mapped.ok()) return mapped;
  missed_before_ = missed_runs_ = joined.missed_runs;
  for (const auto& [group, much] : groups_of(request)) {
    if (group->counts_calls()) is_counted_by_groups_ = true;
  }
  return enrol(0);
}

Result<void> ProcessAttachment::map_all(const Joined& joined, const ProgramRequest& request) {
  std::size_t expected = request.details.any() ? 2 : 1;
  for (const auto& [group, much] : groups_of(request)) expected += group->shared_maps(much).size();
  if (joined.maps.count != expected || joined.cpu_count == 0) {
    return Failure{"the eBPF helper sent other maps than syscost requested", "report this with the output of ss -xlp"};
  }
  const int* next = joined.maps.descriptors.data();
  Result<void*> start = map_shared(*next++, map_bytes(joined.cpu_count), "the counters");
  if (!start.ok()) return start.failure();
  memory_.blocks = {static_cast<syscost_block*>(start.value()), map_blocks(joined.cpu_count)};
  memory_.cpu_count = joined.cpu_count;
  memory_.cookie = joined.cookie;
  if (request.details.any()) {
    const std::size_t cells = detail_cells(memory_.cpu_count);
    start = map_shared(*next++, cells * sizeof(syscost_cell), "the details' counters");
    if (!start.ok()) return start.failure();
    memory_.detail_cells = {static_cast<syscost_cell*>(start.value()), cells};
  }
  for (std::size_t i = 0; i < program_groups().size(); ++i) {
    if (request.wanted[i] == 0) continue;
    for (const SharedMap& shared : program_groups()[i]->shared_maps(request.wanted[i])) {
      start = map_shared(*next++, shared.bytes, shared.what);
      if (!start.ok()) return start.failure();
      memory_.of_groups[i].emplace_back(static_cast<std::byte*>(start.value()), shared.bytes);
    }
  }
  return {};
}

ProcessAttachment::ProcessAttachment(ProcessAttachment&& other) noexcept
    : fork_detector_(other.fork_detector_),
      holder_(std::move(other.holder_)),
      registrations_(std::move(other.registrations_)),
      why_alone_(std::move(other.why_alone_)),
      memory_(std::exchange(other.memory_, {})),
      is_counted_by_groups_(other.is_counted_by_groups_),
      missed_before_(other.missed_before_),
      missed_runs_(other.missed_runs_),
      entered_twice_(other.entered_twice_),
      unresolved_(other.unresolved_) {}

ProcessAttachment::~ProcessAttachment() {
  if (is_fork_child()) return;  // what is mapped there is the child's own
  if (!memory_.blocks.empty()) unmap(memory_.blocks.data(), map_bytes(memory_.cpu_count));
  if (!memory_.detail_cells.empty()) unmap(memory_.detail_cells.data(), memory_.detail_cells.size_bytes());
  for (const auto& maps : memory_.of_groups) {
    for (const std::span<std::byte> map : maps) unmap(map.data(), map.size());
  }
}

// ---- registration ---------------------------------------------------------------------------------------------------

Registrations::Seen Registrations::say(const SharedMemory& memory, std::uint64_t token) {
  // Another thread may register at the same time. Then the number that the programs saw must lie between the number
  // that certainly fell in between and the number that possibly did. Without another thread both are one.
  const auto seen_so_far = [&](const __u64& canaries) { return std::atomic_ref(const_cast<__u64&>(canaries)).load(); };
  const syscost_directory& directory = memory.directory();
  const std::uint64_t ended_before = ended_.load();
  const std::uint64_t entered_before = seen_so_far(directory.canaries_entered);
  const std::uint64_t returned_before = seen_so_far(directory.canaries_returned);
  begun_.fetch_add(1);
  const bool is_denied = syscall(SYS_gettid, memory.cookie, token) < 0;
  ended_.fetch_add(1);
  const std::uint64_t entered = seen_so_far(directory.canaries_entered) - entered_before;
  const std::uint64_t returned = seen_so_far(directory.canaries_returned) - returned_before;
  const std::uint64_t possible = begun_.load() - ended_before;
  if (is_denied) return Seen::denied;
  if (entered == 0 || returned == 0) return Seen::never;
  return entered > possible || returned > possible ? Seen::twice : Seen::once;
}

Failure ProcessAttachment::not_enrolled() const {
  const Result<Report> report = holder_->report();
  switch (report.ok() ? report.value().refusal : 0U) {
    case SYSCOST_REFUSED_ENROLLED:
      return {"another copy of syscost in this process shares the programs already", "link one copy of syscost"};
    case SYSCOST_REFUSED_SECOND:
      return {"another process has used this one's place at the BPF programs", "report this"};
    case SYSCOST_REFUSED_FULL:
      return {"more than " + std::to_string(SYSCOST_TARGET_WAYS) +
                  " measured processes have numbers that are equal modulo " + std::to_string(SYSCOST_TARGET_BUCKETS),
              "try again: the next process has another number"};
    default:
      return {"the BPF programs do not see this process",
              "report this with the output of --syscost_doctor and uname -a"};
  }
}

Result<void> ProcessAttachment::enrol(std::uint64_t token) const {
  switch (registrations_->say(memory_, token)) {
    case Registrations::Seen::once:
      return {};
    case Registrations::Seen::denied:
      return shut_out();
    case Registrations::Seen::twice:
      return counted_twice();
    case Registrations::Seen::never:
      break;
  }
  return not_enrolled();
}

Result<void> ProcessAttachment::attach(std::uint64_t token) {
  Result<void> attached = holder_->attach();
  return attached.ok() ? enrol(token) : attached;
}

// ---- retirement -----------------------------------------------------------------------------------------------------

namespace {

/// The holder of a process that has given up its place.
class NoHolder final : public Holder {
 public:
  Result<void> attach() override { return taken_away(); }
  void detach() override {}
  Result<Report> report() override { return taken_away(); }
  Result<std::uint64_t> missed_runs(Runs /*wanted*/) override { return taken_away(); }
};

}  // namespace

void ProcessAttachment::retire() {
  holder_ = std::make_unique<NoHolder>();
}

// ---- what became of it ----------------------------------------------------------------------------------------------

Failure taken_away() {
  return {"syscost's BPF programs are not attached any more: something closed its file descriptors",
          "do not close descriptors that the test did not open (close_range, closefrom)"};
}

Failure shut_out() {
  return {"a seccomp filter of the test denies calls that syscost makes between windows",
          "allow gettid, fstat, pread64, sendmsg, recvmsg and getrusage in the filter, or put code that needs such a "
          "filter into a fork child"};
}

Failure counted_twice() {
  return {"syscost's BPF programs were attached a second time, and calls were counted twice",
          "to find the second attachment: `bpftool link` lists raw_tracepoint links of programs named on_sys_enter"};
}

// If the kernel skips a run of the other programs, the next action of the thread shows it: the thread enters a call
// while it is inside one, or one of its calls waits for a signal. A thread that was always alone has acted since then,
// because it made the registration call. Under a filter this does not hold: a denied call is an exit without an entry,
// and no later event is missing.
Runs ProcessAttachment::runs_to_ask_for() {
  const syscost_directory& directory = memory_.directory();
  const bool was_always_alone = load(directory.is_alone) != 0 && load(directory.threads_seen) == 1;
  const bool left_all_calls = load(directory.entered_twice) == entered_twice_;
  const std::uint64_t unresolved = load(directory.unresolved);
  const bool awaited_no_signal = std::exchange(unresolved_, unresolved) == unresolved;
  const bool is_enough = was_always_alone && left_all_calls && awaited_no_signal && !is_counted_by_groups_;
  return is_enough ? Runs::of_entries : Runs::of_all;
}

Result<std::uint64_t> ProcessAttachment::check(std::uint64_t token) {
  switch (registrations_->say(memory_, token)) {
    case Registrations::Seen::once:
      break;
    case Registrations::Seen::denied:
      return shut_out();
    case Registrations::Seen::twice:
      return counted_twice();
    case Registrations::Seen::never: {
      const Result<Report> report = holder_->report();
      return report.ok() ? taken_away() : report.failure();
    }
  }
  Result<std::uint64_t> asked = holder_->missed_runs(runs_to_ask_for());
  if (!asked.ok()) return asked;
  const std::uint64_t missed = asked.value();
  if (missed < missed_runs_) {
    return Failure{"the number of runs that the kernel skipped became smaller: it belongs to other programs",
                   "report this"};
  }
  const std::uint64_t twice = std::atomic_ref(memory_.directory().entered_twice).load();
  // If the kernel did not show the end of a call, the thread's next call looks like it. Then the first call is lost.
  const bool is_explained = twice - entered_twice_ <= missed - missed_runs_;
  entered_twice_ = twice;
  missed_runs_ = missed;
  if (!is_explained) return counted_twice();
  return missed - missed_before_;
}

}  // namespace syscost::ebpf
