// SPDX-License-Identifier: MIT
//
// Stamps go into a file beside the run's CSV. Their figures go into the CSV, so that `compare` judges them.
//
// Nothing here happens unless you request a CSV or a profile. One thread at a time; no exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "syscost/export.h"
#include "syscost/gpu/stamps.h"

namespace syscost::gpu {

/// While one lives, the running test is not charged: the calls that GPU stamps make into the driver are not the test's.
/// The test's row then says `excludes loop GPU stamps`. Does nothing inside another Aside, in a syscost::loop (the
/// loop's pass is charged), in a fork child, and in a run without a request.
class SYSCOST_EXPORT Aside {
 public:
  Aside();
  ~Aside();  // NOLINT(performance-trivially-destructible): a stand-in for the library has nothing to do in it
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  bool is_aside_ = false;
};

/// Appends the launch's stamps to `stamps-PROGRAM-PID.csv` in the artifacts' folder and a row of kind `gpu_kernel` for
/// each figure to the run's CSV, both under the running test. Fills in run, test and the launch's number. Returns "",
/// or what went wrong; that was then said and ends the run non-zero as well.
SYSCOST_EXPORT std::string record(StampedLaunch launch);

/// A row of kind `gpu_kernel` for each of `durations_ns`, in order, under the running test: `figure` becomes the column
/// `window`
/// ("add duration (events)").
SYSCOST_EXPORT void record_times(const std::string& figure, const std::vector<std::uint64_t>& durations_ns);

}  // namespace syscost::gpu
