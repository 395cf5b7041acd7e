// SPDX-License-Identifier: MIT
//
// Holder: who has the BPF programs and their attachments. A measured process keeps sockets and files that it can only
// read, never one of those.
#pragma once

#include <cstdint>

#include "backends/ebpf/missed_runs.h"
#include "os/result.h"

namespace syscost::ebpf {

/// What the holder says when it is asked.
struct Report {
  std::uint64_t missed_runs = 0;  ///< As Holder::missed_runs().
  std::uint32_t refusal = 0;      ///< enum syscost_refusal: why this process is not enrolled.
};

class Holder {
 public:
  virtual ~Holder() = default;
  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  /// This process is to be counted again; it must enrol again. Between windows only, as all of this.
  virtual Result<void> attach() = 0;
  /// Stops counting this process until attach(). When no process is counted, the programs come off.
  virtual void detach() = 0;
  /// Fails when the programs are not there any more, or the test took away what leads to them.
  virtual Result<Report> report() = 0;
  /// Runs of the programs that the kernel skipped since they were loaded; those that are not `wanted` may be missing.
  /// Fails as report() does.
  virtual Result<std::uint64_t> missed_runs(Runs wanted) = 0;
};

/// Why nothing is counted any more, once the test has closed what leads to the programs.
Failure taken_away();
/// The same, when system calls of ours are denied.
Failure shut_out();
/// Why counts are too high.
Failure counted_twice();

}  // namespace syscost::ebpf
