// SPDX-License-Identifier: MIT
//
// What `bench` learns of the command's end: lines to a descriptor that it passes to this program (--report-end=FD).
//
// The exit code of this program is the command's, as a shell gives it, and its messages go where the command's output
// goes. So neither tells an end of the command from a refusal of ours, or exit code 137 from a signal. The lines do:
//   refused WHY       this program, or syscost in the command's process, could not measure it
//   command STATUS    the command has ended; STATUS as waitpid() gives it
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench_run {

/// Takes the descriptor, so that the command does not get it. False where `number` is none that is open.
bool open_end_report(std::string_view number);

/// Each does nothing where bench did not ask.
void report_refused(const std::string& why);
void report_command(int status);

}  // namespace syscost::bench_run
