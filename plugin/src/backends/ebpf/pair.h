// SPDX-License-Identifier: MIT
//
// Pair: the BPF programs, loaded once for any number of measured processes.
//
// Lives in the helper that serves all processes of a host, or, where there can be none, in the measured process. Each
// process gets a place: a map that it shares with the programs and nobody else, and the cookie by which it makes itself
// known to them (enrolment.bpf.h). Descriptors and maps outlive the Pair in whoever holds copies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/call_detail.h"
#include "core/result.h"

struct syscost_bpf;

namespace syscost::ebpf {

inline constexpr std::size_t kProgramCount = 3;
using ProgramDescriptors = std::array<int, kProgramCount>;

/// Bytes and elements of a process's map.
std::size_t map_bytes(std::uint32_t cpu_count);
std::uint32_t map_blocks(std::uint32_t cpu_count);
/// Of the map of details' cells.
std::uint32_t detail_cells(std::uint32_t cpu_count);
/// As mmap and munmap want it.
std::size_t page_rounded(std::size_t bytes);

/// Tells builds apart whose programs and maps differ.
std::uint64_t build_hash();

class Pair {
 public:
  /// Loads, does not attach. 15-40 ms. On failure: which step, which errno, what to do.
  /// A pair that tells calls apart by `details`, or counts `children`, is for one process.
  static Result<Pair> load(const DetailRequest& details = {}, bool children = false);

  Pair(Pair&& other) noexcept;
  Pair& operator=(Pair&&) = delete;
  Pair(const Pair&) = delete;
  ~Pair();

  std::uint32_t cpu_count() const { return cpu_count_; }
  /// Of this object; the programs stay loaded while anybody has a copy, or an attachment.
  ProgramDescriptors programs() const;
  /// The map of details' cells; of this object.
  int detail_cells() const;
  /// Of a pair that counts children, likewise of this object: programs that count, programs that follow a process from
  /// birth to end, and maps.
  ProgramDescriptors child_programs() const;
  ProgramDescriptors following_programs() const;
  int children() const;
  int child_cells() const;

  /// A process's place. Whoever gets it closes `map`.
  struct Place {
    std::uint32_t process = 0;
    std::uint64_t cookie = 0;
    int map = -1;
  };
  /// Places for `count` processes at once: inserting a map takes the kernel 5-20 ms, and as long for many.
  /// Fewer when there is no room; empty is a failure.
  Result<std::vector<Place>> make_places(std::size_t count);
  /// The process counts no more, until it enrols again.
  void dismiss(std::uint32_t process);
  /// The same, for ever: the place is free. Its map stays until the place is taken again.
  void give_back(std::uint32_t process);

 private:
  struct Destroy {
    void operator()(syscost_bpf* skeleton) const;
  };
  explicit Pair(std::uint32_t cpu_count) : cpu_count_(cpu_count) {}
  Result<int> make_map() const;

  std::unique_ptr<syscost_bpf, Destroy> skeleton_;
  std::uint32_t cpu_count_ = 0;
  std::uint32_t serial_ = 0;
};

/// Attaches: the descriptors of three attachments, which end when their last copies are closed.
Result<ProgramDescriptors> open_links(const ProgramDescriptors& programs);

}  // namespace syscost::ebpf
