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
#include "os/errors.h"
#include "session/options/options.h"

namespace syscost::session {

/// Opens the backend that `options` name, one of those this library was built with. It counts what `options` select;
/// the filter must outlive it. If every backend fails, the failure names the reason of each.
Result<std::unique_ptr<Backend>> open_backend(const Options& options);

/// Gives the requests of ioctl names in rows, if `options` ask for them: for a process that writes rows of calls that
/// another process counted. One that opens a backend needs no such call.
void name_requests(const Options& options);

/// True if the options name dispatch, or if `automatic` would open it for a wish that ebpf cannot fulfil. It does not
/// see threads that are older than itself, so it has to open early.
bool would_open_dispatch(const Options& options);

/// Why the backends before the one that `automatic` opened last failed: "ebpf: FIRST PART OF THE REASON", with "; "
/// between them, and a hint to --syscost_doctor. Empty if it opened the first.
std::string failures_of_earlier_backends();

/// While the result lives, programs with the same `options` open the backend faster, because the part that they share
/// exists already. Null if they share nothing.
std::shared_ptr<void> hold_shared(const Options& options);

/// The result of trying one backend on this machine.
struct BackendHealth {
  std::string name;
  bool works = false;
  std::string finding;                           ///< The proof that it works, or the reason why it does not.
  std::string how_to_fix;                        ///< Empty when it works.
  std::optional<std::uint64_t> getppid_ns = {};  ///< Median latency of getppid under it.
};

/// Tries every backend that can count, in the order in which `automatic` tries them. A child process makes the trials
/// that cannot be undone.
std::vector<BackendHealth> examine_backends();

/// "85 ns added per call while counting", or empty where that was not measured.
std::string describe_calibration(const Calibration& calibration);

}  // namespace syscost::session
