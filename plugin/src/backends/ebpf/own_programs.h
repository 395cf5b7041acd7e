// SPDX-License-Identifier: MIT
//
// OwnPrograms: a pair of programs that this process loads and holds itself, where no helper can be.
//
// Programs and attachments lie in the queues of two sockets, of three where children are counted
// (os/parked_descriptors.h), so that a child, however it was made, holds no attachment that this process could not
// take off.
#pragma once

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/holder.h"
#include "backends/ebpf/loaded_programs.h"
#include "os/parked_descriptors.h"

namespace syscost::ebpf {

/// What a place comes with. Descriptors belong to the caller.
struct Joined {
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;
  std::uint64_t missed_runs = 0;  ///< Before this process came.
  PassedDescriptors maps;
};

class OwnPrograms final : public Holder {
 public:
  /// Loads and attaches.
  static Result<std::unique_ptr<OwnPrograms>> load(const ProgramRequest& request, Joined& joined);

  Result<void> attach() override;
  void detach() override;
  Result<Report> report() override;
  Result<std::uint64_t> missed_runs(Runs wanted) override;

 private:
  OwnPrograms(ParkedDescriptors programs, std::size_t counting, std::size_t scheduler)
      : programs_(std::move(programs)), counting_(counting), scheduler_(scheduler) {}
  Result<void> keep_attached(const std::vector<int>& programs, ParkedDescriptors& links);

  ParkedDescriptors programs_;  ///< Those that count first, then those for the scheduler's events.
  std::size_t counting_;
  std::size_t scheduler_;
  ParkedDescriptors counting_links_;
  ParkedDescriptors following_links_;
};

}  // namespace syscost::ebpf
