// SPDX-License-Identifier: MIT
//
// The commands of bench. Each has a folder, and NAME_command.cc in it says what the command line has to know.
#pragma once

#include "cli/command.h"

// In the order of --help: each group in the order in which most users need its commands.
// clang-format off
#define SYSCOST_BENCH_COMMANDS(X) \
  X(kRunCommand) X(kAbCommand) X(kWatchCommand) X(kFaultsCommand) X(kDoctorCommand) \
  X(kSummaryCommand) X(kShowCommand) X(kTraceCommand) X(kFindingsCommand) X(kGroupsCommand) X(kScaleCommand) X(kReportCommand) \
  X(kCompareCommand) X(kLogCommand) X(kRunsCommand) \
  X(kBaselineCommand) X(kCheckCommand) \
  X(kExportCommand)
// clang-format on

namespace syscost::bench::commands {

#define SYSCOST_BENCH_COMMAND(name) extern const cli::Command name;
SYSCOST_BENCH_COMMANDS(SYSCOST_BENCH_COMMAND)
#undef SYSCOST_BENCH_COMMAND

#define SYSCOST_BENCH_COMMAND(name) &(name),
inline constexpr const cli::Command* kAll[] = {SYSCOST_BENCH_COMMANDS(SYSCOST_BENCH_COMMAND)};
#undef SYSCOST_BENCH_COMMAND

}  // namespace syscost::bench::commands
