// SPDX-License-Identifier: MIT
#include "extras/commands/dispatch/command_backend.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "backends/common/counts.h"
#include "backends/dispatch/memory.h"
#include "backends/dispatch/probe.h"
#include "core/extensions.h"
#include "core/selector.h"
#include "extras/commands/core/command_memory.h"
#include "extras/commands/stub/command.h"

namespace syscost::dispatch {
namespace {

using signal_safe::Blind;
using signal_safe::Cell;
using signal_safe::CommandCounts;
using signal_safe::Making;
using signal_safe::ProgramCounts;
using signal_safe::StoodAside;

template <class T>
T load_shared(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// Returns by how much a word grew since it was read last.
std::uint64_t take_growth(const std::uint64_t& word, std::uint64_t& before) {
  const std::uint64_t now = load_shared(word);
  const std::uint64_t growth = now - before;
  before = now;
  return growth;
}

/// The counts of one program that were read so far.
struct ReadSoFar {
  struct OneCell {
    std::uint64_t calls_untimed = 0;
    std::uint64_t latency_sum_ns = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_second = 0;
    std::array<std::uint64_t, signal_safe::kBuckets> buckets{};
  };
  std::vector<OneCell> cells{signal_safe::kSlots};
  std::vector<std::uint64_t> errors = std::vector<std::uint64_t>(signal_safe::kErrorSlots);
};

SyscallId syscall_of(const ProgramCounts& program, std::uint32_t slot) {
  const std::uint64_t value = load_shared(program.directory.syscall_of[slot]);
  return {static_cast<Abi>(value >> 32 & 3), static_cast<std::uint32_t>(value)};
}

void take_cell(Cell& cell, ReadSoFar::OneCell& before, SyscallId id, CallTable& into) {
  const std::uint64_t untimed = take_growth(cell.calls_untimed, before.calls_untimed);
  std::array<std::uint64_t, signal_safe::kBuckets> fresh{};
  std::uint64_t timed = 0;
  for (std::size_t bucket = 0; bucket < fresh.size(); ++bucket) {
    timed += fresh[bucket] = take_growth(cell.buckets[bucket], before.buckets[bucket]);
  }
  if (untimed + timed == 0) return;
  Tally& tally = into.at(id);
  tally.calls += untimed + timed;
  add_bytes(tally, id, take_growth(cell.bytes, before.bytes), take_growth(cell.bytes_second, before.bytes_second));
  for (std::size_t bucket = 0; bucket < fresh.size(); ++bucket) tally.latency.add_bucket(bucket, fresh[bucket]);
  // The least and the greatest latency since the last reading. A call that is being counted this moment may be in this
  // reading with its bucket, and in the next one with its edge.
  const std::uint64_t least = std::atomic_ref(cell.latency_least).exchange(0);
  const std::uint64_t greatest = std::atomic_ref(cell.latency_max_ns).exchange(0);
  tally.latency.add_exact(timed, take_growth(cell.latency_sum_ns, before.latency_sum_ns), least != 0 ? least - 1 : 0,
                          greatest);
}

void take_program(ProgramCounts& program, ReadSoFar& before, CallTable& into) {
  const std::uint32_t slots = std::min(load_shared(program.directory.slots_used), signal_safe::kSlots);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    take_cell(program.cells[slot], before.cells[slot], syscall_of(program, slot), into);
  }
  const std::uint32_t errors = std::min(load_shared(program.directory.error_slots_used), signal_safe::kErrorSlots);
  for (std::uint32_t slot = 0; slot < errors; ++slot) {
    const std::uint64_t count = take_growth(program.errors[slot], before.errors[slot]);
    if (count == 0) continue;
    const std::uint32_t error = load_shared(program.directory.error_of[slot]);
    into.at(syscall_of(program, error >> 16)).errors.add(static_cast<int>(error & 0xffff), count);
  }
}

const char* reason_of(Blind blind) {
  switch (blind) {
    case Blind::not_loaded:
      return "nothing was loaded into it: it is static, set-uid, for another C library, runs as another user, in "
             "another root folder or in a PID namespace with a /proc of its own, or it was ended before it began";
    case Blind::filtered:
      return "it has installed a seccomp filter, which may kill it for the calls that counting needs";
    case Blind::too_old:
      return "its processor, kernel or shadow stack does not allow dispatch";
    case Blind::debugger:
      return "a debugger is attached, and it would stop at every dispatched call";
    case Blind::valgrind:
      return "valgrind knows no Syscall User Dispatch";
    case Blind::uses_gs:
      return "it uses the gs register, which dispatch needs to identify threads";
    case Blind::refused:
      return "the kernel refused memory or Syscall User Dispatch";
    case Blind::shared_process:
      return "it shares the memory of another process and runs beside it";
    case Blind::many_programs:
      return "64 other programs are counted already, and there is no room for more";
    case Blind::thread:
    case Blind::count_:
      break;
  }
  return "there was no place for it, or the kernel refused";
}

const char* reason_of(StoodAside aside) {
  switch (aside) {
    case StoodAside::own_dispatch:
      return "it uses Syscall User Dispatch itself";
    case StoodAside::own_gs:
      return "it sets the gs register, which dispatch needs to identify threads";
    case StoodAside::own_sigsys_file:
      return "it reads SIGSYS from a signalfd";
    case StoodAside::own_filter:
      return "it installed a seccomp filter that forbids calls which dispatch needs, as rt_sigreturn";
    default:
      return "it disabled the time-stamp counter (PR_SET_TSC)";
  }
}

class CommandBackend final : public Backend, private ProgramReader, private CommandMemory {
 public:
  CommandBackend(std::string_view name, CommandCounts* counts, int file)
      : name_(name), counts_(*counts), file_(file), programs_(signal_safe::kPrograms) {}
  ~CommandBackend() override {
    munmap(&counts_, sizeof counts_);
    ::close(file_);
  }
  CommandBackend(const CommandBackend&) = delete;
  CommandBackend& operator=(const CommandBackend&) = delete;

  std::string_view name() const override { return name_; }
  Capabilities capabilities() const override {
    return {.calls = true,
            .errors = true,
            .latency = counts_.ns_per_tick != 0,
            .bytes = BytesKnown::but_foreign_lengths,
            .programs = true};
  }
  Calibration calibration() const override { return {}; }
  std::string remark() const override {
    return "dispatch counts each program from its first constructor on: what the dynamic loader calls before that is "
           "not "
           "in the rows, and of the execve that began the program there is no time";
  }
  std::string memory_name() const override;
  std::vector<BlindSpot> blind_spots() const override;

  std::optional<AcquiredLane> acquire_lane() override { return std::nullopt; }
  Generation boundary(Lane /*lane*/, Next next) override { return next == Next::kArm ? ++generation_ : 0; }
  void read(Lane /*lane*/, CallTable& /*into*/) override {}
  void read_programs(ProgramTables& into) override;
  void read_crossings(CrossingSink& /*sink*/) override {}
  Losses losses() const override { return {0, load_shared(counts_.lost)}; }
  Result<std::uint64_t> hidden_losses() override;
  Result<void> detach() override { return {}; }
  Result<void> attach() override { return {}; }

 private:
  void* find_extension(std::string_view name) override { return pick<ProgramReader, CommandMemory>(name, this, this); }
  const std::string name_;
  CommandCounts& counts_;
  const int file_;
  std::vector<std::unique_ptr<ReadSoFar>> programs_;
  Generation generation_ = 0;
};

std::string CommandBackend::memory_name() const {
  std::array<char, 96> text{};
  // As /proc has it: it may be that of an outer PID namespace.
  std::array<char, 16> self{};
  if (readlink("/proc/self", self.data(), self.size() - 1) <= 0)
    std::snprintf(self.data(), self.size(), "%d", getpid());
  std::snprintf(text.data(), text.size(), "/proc/%s/fd/%d:%llx", self.data(), file_,
                static_cast<unsigned long long>(counts_.cookie));
  return text.data();
}

void CommandBackend::read_programs(ProgramTables& into) {
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    ProgramCounts& program = counts_.programs[i];
    if (load_shared(program.making) != Making::done) continue;
    if (programs_[i] == nullptr) programs_[i] = std::make_unique<ReadSoFar>();
    take_program(program, *programs_[i], into.at(program.name));
  }
}

/// Returns the number of images that were announced and do not count. While the command runs, one may just begin.
Result<std::uint64_t> CommandBackend::hidden_losses() {
  std::uint64_t lost = 0;
  for (const auto& image : counts_.images) lost += load_shared(image.making) == Making::done ? 1 : 0;
  for (const std::uint64_t& blind : counts_.blind) lost += load_shared(blind);
  for (const std::uint64_t& aside : counts_.aside) lost += load_shared(aside);
  return lost;
}

std::vector<BlindSpot> CommandBackend::blind_spots() const {
  std::vector<BlindSpot> spots;
  for (const auto& image : counts_.images) {
    if (load_shared(image.making) == Making::done) {
      spots.push_back({image.path, reason_of(image.blind), image.blind == Blind::not_loaded});
    }
  }
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Blind::count_); ++i) {
    const std::uint64_t count = load_shared(counts_.blind[i]);
    const auto blind = static_cast<Blind>(i);
    if (count == 0) continue;
    const char* const what = blind == Blind::thread ? "a thread" : "a process";
    spots.push_back(
        {what + (count > 1 ? " and " + std::to_string(count - 1) + " more" : std::string()), reason_of(blind)});
  }
  for (std::uint32_t i = 1; i < std::size(counts_.aside); ++i) {
    const std::uint64_t count = load_shared(counts_.aside[i]);
    if (count == 0) continue;
    spots.push_back({"a process" + (count > 1 ? " and " + std::to_string(count - 1) + " more" : std::string()) +
                         ", from some time on",
                     reason_of(static_cast<StoodAside>(i))});
  }
  return spots;
}

void select(const Filter& filter, CommandCounts& counts) {
  for (std::uint32_t index = 0; index < signal_safe::kAbis * signal_safe::kNumbers; ++index) {
    const SyscallId id{static_cast<Abi>(index / signal_safe::kNumbers), index % signal_safe::kNumbers};
    if (!filter.selects(id)) counts.not_selected[index / 64] |= std::uint64_t{1} << (index % 64);
  }
  counts.ignores_unlisted = filter.may_select_beyond() ? 0 : 1;
}

}  // namespace

Result<std::unique_ptr<Backend>> open_command_backend(std::string_view name, const Filter* filter) {
  if (Result<void> possible = check_requirements(); !possible.ok()) return possible.failure();
  if (Result<void> memory = reserve_memory(); !memory.ok()) return memory.failure();
  const ClockRate clock;
  if (Result<void> tried = try_in_child(); !tried.ok()) return tried.failure();
  clock.settle();
  // The programs do not inherit it. They open it by its name in /proc, so it does not matter if one closes descriptors.
  const int file = memfd_create("syscost-command", MFD_CLOEXEC);
  if (file < 0) return errno_failure("make", "memory for the counts of a command", errno);
  void* at = MAP_FAILED;
  if (ftruncate(file, sizeof(CommandCounts)) == 0) {
    at = mmap(nullptr, sizeof(CommandCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  auto* const counts = static_cast<CommandCounts*>(at);
  if (at == MAP_FAILED || getrandom(&counts->cookie, sizeof counts->cookie, 0) != sizeof counts->cookie) {
    const int error = errno;
    if (at != MAP_FAILED) munmap(at, sizeof(CommandCounts));
    ::close(file);
    return errno_failure("map", "memory for the counts of a command", error);
  }
  counts->bytes = sizeof(CommandCounts);
  counts->frame_bytes = syscost_state.frame_bytes;
  counts->ns_per_tick = syscost_state.ns_per_tick;
  std::copy(std::begin(syscost_state.vector_parts), std::end(syscost_state.vector_parts), counts->vector_parts);
  if (filter != nullptr) select(*filter, *counts);
  // The command itself; its process is not known yet.
  counts->images[0].blind = Blind::not_loaded;
  std::atomic_ref(counts->images[0].making).store(Making::done);
  return std::unique_ptr<Backend>(std::make_unique<CommandBackend>(name, counts, file));
}

}  // namespace syscost::dispatch
