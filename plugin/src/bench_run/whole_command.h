// SPDX-License-Identifier: MIT
//
// A command that is measured as a whole: from outside, or by a library in each of its programs.
#pragma once

#include <string>

#include "bench_run/program_file.h"

namespace syscost::bench_run {

/// Starts to measure `program`, which the user called `name`. `library`: what is preloaded if its programs count
/// themselves. Ends this program where the command cannot be measured.
void start_outside(const ProgramFile& program, const std::string& name, const std::string& library);

/// Names each part of the command that is not in its rows.
void print_not_counted();

}  // namespace syscost::bench_run
