// SPDX-License-Identifier: MIT
//
// HelperLink: this process's place at the pair of programs that the helper holds for all.
//
// The first process to come opens the socket, connects to it and starts the helper with it: so whoever comes next, also
// before the helper runs, just connects and waits. Who binds the name decides the kernel. docs/decisions/0018.
#pragma once

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/pair.h"
#include "core/result.h"

namespace syscost::ebpf {

class HelperLink {
 public:
  /// What a place comes with. Descriptors belong to the caller.
  struct Place {
    std::uint32_t cpu_count = 0;
    std::uint64_t cookie = 0;
    int map = -1;
    ProgramDescriptors programs{-1, -1, -1};
    ProgramDescriptors links{-1, -1, -1};
  };

  /// Who or what keeps this process from sharing.
  enum class Obstacle {
    surroundings,    ///< There is no helper here, and none can be.
    missing_rights,  ///< Of this process and of the helper's file.
    helper,          ///< It said so itself.
  };

  /// Gets a place from the helper that serves us, after starting one when none does. Between windows only.
  /// On failure: why this process cannot share, and which obstacle that is.
  static Result<HelperLink> join(Place& place, Obstacle& obstacle);

  HelperLink(HelperLink&& other) noexcept;
  HelperLink& operator=(HelperLink&&) = delete;
  HelperLink(const HelperLink&) = delete;
  ~HelperLink();

  /// This process is not to be counted for now. When no other is either, the programs come off.
  void detach();
  /// They are to be on again: new attachments. The process must enrol again.
  Result<ProgramDescriptors> attach();

 private:
  explicit HelperLink(int socket) : socket_(socket) {}
  Result<Passed> ask(Request request, std::size_t descriptors) const;

  int socket_;
};

/// Where the helper lies, or would lie.
std::string helper_path();

}  // namespace syscost::ebpf
