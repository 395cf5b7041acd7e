// SPDX-License-Identifier: MIT
//
// LoadedPrograms: the BPF programs, loaded once for any number of measured processes.
//
// LoadedPrograms live in the helper that serves all processes of a host, or, where there can be none, in the measured
// process. Each process gets a place: a map that it shares only with the programs, and the cookie by which it makes
// itself known to them (bpf/enrolment.bpf.h). Programs, attachments and maps outlive LoadedPrograms in each process
// that holds copies.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/ebpf/attachment.h"
#include "backends/ebpf/program_request.h"
#include "os/errors.h"

struct syscost_bpf;

namespace syscost::ebpf {

/// Bytes and elements of a process's map.
std::size_t map_bytes(std::uint32_t cpu_count);
std::uint32_t map_blocks(std::uint32_t cpu_count);
/// Elements of the map of details' cells.
std::uint32_t detail_cells(std::uint32_t cpu_count);
/// As mmap and munmap want it.
std::size_t page_rounded(std::size_t bytes);

/// Differs between builds that have different programs or maps.
std::uint64_t build_hash();

class LoadedPrograms {
 public:
  /// Loads, does not attach. 15-40 ms. On failure: which step, which errno, what to do.
  /// If the request needs_own_programs(), the pair is for one process.
  static Result<LoadedPrograms> load(const ProgramRequest& request = {});

  LoadedPrograms(LoadedPrograms&& other) noexcept;
  LoadedPrograms& operator=(LoadedPrograms&&) = delete;
  LoadedPrograms(const LoadedPrograms&) = delete;
  ~LoadedPrograms();

  std::uint32_t cpu_count() const { return cpu_count_; }
  /// Descriptors of this object; the programs stay loaded while any process has a copy, or an attachment.
  /// Those that count, in the order in which they are attached: of the process, then of each group.
  std::vector<int> counting_programs() const;
  /// Those of groups that stay attached (ProgramGroup::Programs::following).
  std::vector<int> following_programs() const;
  /// All that count or follow. The kernel may skip a run of them; of those that only watch it skips none.
  std::vector<int> programs() const;
  /// In the order in which they are attached: those that count, then those that watch.
  std::vector<int> attached_programs() const;
  /// The maps that the process may map besides its place's own: the cells of details, then those that each group
  /// shares.
  std::vector<int> further_maps() const;

  /// A process's place. The caller must close `map`.
  struct ProcessSlot {
    std::uint32_t process = 0;
    std::uint64_t cookie = 0;
    int map = -1;
  };
  /// Places for `count` processes at once: inserting a map takes the kernel 5-20 ms, and as long for many.
  /// Fewer when there is no room; empty is a failure.
  Result<std::vector<ProcessSlot>> make_slots(std::size_t count);
  /// How many of the places have, or had, a map.
  std::uint32_t slots() const { return slots_; }
  /// The process counts no more, until it enrols again.
  void dismiss(std::uint32_t process);
  /// The same, for ever: the place is free. Its map stays until the place is taken again.
  void give_back(std::uint32_t process);
  /// Why the process that has the place is not enrolled: enum syscost_refusal.
  std::uint32_t refusal_of(std::uint32_t process) const;

 private:
  struct Destroy {
    void operator()(syscost_bpf* skeleton) const;
  };
  explicit LoadedPrograms(std::uint32_t cpu_count) : cpu_count_(cpu_count) {}
  Result<int> make_map() const;

  std::unique_ptr<syscost_bpf, Destroy> skeleton_;
  std::uint32_t cpu_count_ = 0;
  std::uint32_t serial_ = 0;
  std::uint32_t slots_ = 0;
  ProgramRequest request_;
  Attachment attachment_ = Attachment::raw_tracepoints;
};

}  // namespace syscost::ebpf
