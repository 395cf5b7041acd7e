// SPDX-License-Identifier: MIT
//
// ProgramGroup: BPF programs that look for more than a process's own calls, for an extra. extras/program_groups.cc
// lists the groups; what counts the calls knows none of them. A process that wants a group has programs of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "backends/ebpf/attachment.h"
#include "core/backend_request.h"
#include "os/errors.h"

struct bpf_map;
struct bpf_program;
struct syscost_bpf;

namespace syscost::ebpf {

/// program_groups() lists no more: in messages to the helper there is room for so many.
inline constexpr std::size_t kMostProgramGroups = 8;

/// A map that a group's programs share with the process.
struct SharedMap {
  bpf_map* (*of)(const syscost_bpf& object);
  std::size_t bytes;
  const char* what;  ///< For messages: "the table of children".
};

class ProgramGroup {
 public:
  ProgramGroup(const ProgramGroup&) = delete;
  ProgramGroup& operator=(const ProgramGroup&) = delete;

  /// By which a user asks for it.
  virtual std::string_view flag() const = 0;
  /// How much of it a process wants: 0 = nothing, so it is not loaded.
  virtual std::uint32_t wanted(const BackendRequest& request) const = 0;
  /// A helper takes a greater number for this one.
  virtual std::uint32_t most() const { return 1; }
  /// True if it counts calls: then the kernel must not skip a run of its programs.
  virtual bool counts_calls() const = 0;
  /// Fails if this kernel is too old for it.
  virtual Result<void> check_kernel() const { return {}; }

  /// The maps of the object that only its programs use.
  virtual std::vector<bpf_map*> maps(const syscost_bpf& object) const = 0;
  /// Those of them that the process maps, if it wants so much.
  virtual std::vector<SharedMap> shared_maps(std::uint32_t wanted) const = 0;
  /// Sets constants and sizes, before the object is loaded.
  virtual void prepare(syscost_bpf& object, std::uint32_t wanted) const {
    static_cast<void>(object), static_cast<void>(wanted);
  }

  /// Each list is in the order in which its programs are attached.
  struct Programs {
    std::vector<bpf_program*> counting;   ///< With those of the process, which detach() takes off.
    std::vector<bpf_program*> watching;   ///< The same; of these the kernel skips no run.
    std::vector<bpf_program*> following;  ///< They stay attached.
  };
  virtual Programs programs(const syscost_bpf& object, Attachment attachment) const = 0;

 protected:
  ProgramGroup() = default;
  ~ProgramGroup() = default;
};

std::span<const ProgramGroup* const> program_groups();

}  // namespace syscost::ebpf
