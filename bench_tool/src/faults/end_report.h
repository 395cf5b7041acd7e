// SPDX-License-Identifier: MIT
//
// EndReport: how a command of syscost-run ended, by the descriptor that the keeper passes to it (--report-end).
//
// syscost-run ends with the command's exit code, as a shell does, and prints where the command prints. So its own end
// does not tell what the command did: 2 may be a refusal or the test's exit(2), 137 a SIGKILL or what main() returned.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace syscost::bench::faults {

struct EndReport {
  std::optional<int> status;  ///< Of the command, as waitpid() gives it. None: it did not run to an end.
  std::string refusal;        ///< Why it could not be measured; empty = it could.
};

/// Lines that this version does not know are left out.
EndReport read_end_report(std::string_view text);

}  // namespace syscost::bench::faults
