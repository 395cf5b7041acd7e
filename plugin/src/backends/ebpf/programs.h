// SPDX-License-Identifier: MIT
//
// Programs: the BPF programs of this process, from loading to closing.
//
// Loading needs libbpf; counting does not. So once the programs are loaded and the shared maps are mapped, libbpf's
// object is thrown away, and all that stays is memory and a handful of file descriptors at high numbers: one per
// program (to attach again, and to ask for missed runs) and one per attachment.
//
// fork copies descriptors, and an attachment lives as long as any copy: a child that outlives us would keep the
// programs attached. Children made by fork() close theirs; exec closes them in all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/ebpf/shared.h"
#include "core/result.h"

namespace syscost::ebpf {

/// What the programs and we share, as mapped here.
struct SharedMemory {
  std::span<syscost_lane> lanes;
  std::span<syscost_cpu> cpus;  ///< Possible CPUs only.
  syscost_directory* directory = nullptr;
  std::span<syscost_log_record> log;
  std::span<syscost_cell> cells;    ///< [bank][shard][slot]
  std::span<syscost_shard> shards;  ///< [bank][shard]
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;  ///< First argument of a registration call.

  std::uint32_t shard_count() const { return cpu_count + SYSCOST_LANES - 1; }
};

/// Why nothing is counted any more, once descriptors turn out to be closed.
Failure taken_away();
/// The same, when system calls of ours are denied.
Failure shut_out();

class Programs {
 public:
  /// Loads and attaches. Takes 15-40 ms. On failure: which step, which errno, what to do.
  static Result<Programs> load();

  Programs(Programs&& other) noexcept;
  Programs& operator=(Programs&&) = delete;
  Programs(const Programs&) = delete;
  ~Programs();

  const SharedMemory& memory() const { return memory_; }

  Result<void> attach();
  void detach();

  /// Runs that the kernel skipped because a program was already running on that CPU. Cumulative. Fails when the
  /// descriptors are not ours any more.
  Result<std::uint64_t> missed_runs() const;

 private:
  static constexpr std::size_t kCount = 3;

  Programs() = default;
  Result<void> map_memory(int shared_fd, std::size_t shared_bytes, int cells_fd, int shards_fd);

  struct Mapping {
    void* start = nullptr;
    std::size_t bytes = 0;
  };
  Result<void*> map_one(Mapping& mapping, int fd, std::size_t bytes, const char* what);

  std::array<int, kCount> program_fds_{-1, -1, -1};
  std::array<int, kCount> link_fds_{-1, -1, -1};
  std::array<std::uint32_t, kCount> program_ids_{};
  std::array<Mapping, 3> mappings_;
  SharedMemory memory_;
};

}  // namespace syscost::ebpf
