// SPDX-License-Identifier: MIT
//
// The one place that opens backends by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.h"
#include "os/result.h"
#include "session/options/options.h"

namespace syscost::session {

/// Opens one of the backends this library was built with, to count what `filter` selects (null = everything; it must
/// outlive the backend), and with `children` what child processes do too. Where every backend fails, the failure says
/// why each does.
Result<std::unique_ptr<Backend>> open_backend(BackendChoice choice, const Filter* filter, bool children,
                                              const DetailRequest& details = {});

/// Why `automatic`, when it last opened a backend, passed those over that come before it:
/// "ebpf: FIRST PART OF THE REASON", "; " between them, and where the rest is; empty when it took the first.
std::string passed_over();

/// What one backend does here, found out by trying.
struct BackendHealth {
  std::string name;
  bool works = false;
  std::string finding;                           ///< What was seen to work, or why it does not.
  std::string how_to_fix;                        ///< Empty when it works.
  std::optional<std::uint64_t> getppid_ns = {};  ///< Median latency that it saw of one.
};

/// Tries every backend that can count, in the order in which `automatic` tries them. What cannot be undone is done in
/// a child.
std::vector<BackendHealth> examine_backends();

/// "85 ns added per call while counting", or empty where that was not measured.
std::string describe_calibration(const Calibration& calibration);

}  // namespace syscost::session
