// SPDX-License-Identifier: MIT
//
// Holder: who has the BPF programs and their attachments. A measured process keeps a socket, never one of those.
#pragma once

#include <cstdint>

#include "core/result.h"

namespace syscost::ebpf {

/// What only the holder knows.
struct Report {
  std::uint64_t missed_runs = 0;  ///< Runs that the kernel skipped, since the programs were loaded.
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
  /// It is not to be counted for now; when no other is either, the programs come off.
  virtual void detach() = 0;
  /// Fails when the programs are not there any more, or the test took away what leads to them.
  virtual Result<Report> report() = 0;
};

/// Why nothing is counted any more, once the test has closed what leads to the programs.
Failure taken_away();
/// The same, when system calls of ours are denied.
Failure shut_out();
/// Why counts are too high.
Failure counted_twice();

}  // namespace syscost::ebpf
