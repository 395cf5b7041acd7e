// SPDX-License-Identifier: MIT
//
// Keeper: the process between bench and the command of one contained run (contained.h).
#pragma once

#include <filesystem>

#include "faults/contained.h"

namespace syscost::bench::faults {

struct KeeperTask {
  const ContainedCommand* command = nullptr;
  const WorkingPlan* plan = nullptr;  ///< For the working directory of the run.
  std::filesystem::path folder;       ///< This run's; the keeper makes and removes it.
  std::filesystem::path working;      ///< bench's working directory.
  int lifeline = -1;                  ///< At its end, everything ends.
  int report = -1;                    ///< Written at the end.
};

/// In a new process: runs the command to its end. Does not return.
[[noreturn]] void keep(const KeeperTask& task);

/// The keeper's report: a line of numbers, the fault, and the output.
std::string report_text(const ContainedEnd& end);
/// Reads it. Nothing if it is not whole: someone killed the keeper.
std::optional<ContainedEnd> read_report(const std::string& text);

}  // namespace syscost::bench::faults
