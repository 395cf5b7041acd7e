// SPDX-License-Identifier: MIT
//
// Words: checks the selector and the errnos of a sweep before anything runs.
//
// bench knows no table of syscalls and none of errnos: it links nothing of the plugin. The runner has both tables, and
// reads the same words for --filter and --inject. So it reads them for us, and its message has the nearest name.
#pragma once

#include <string>
#include <string_view>

#include "faults/plan.h"

namespace syscost::bench::faults {

/// What is wrong with the names in `options`, or "". `runner`: the path of syscost-run.
std::string words_fault(const std::string& runner, const PlanOptions& options);

/// The message of the runner about a bad value, in the words of this command: `--calls: 'fsnyc' is not a known syscall.
/// Did you mean 'fsync'?`
std::string as_own_words(std::string_view output);

}  // namespace syscost::bench::faults
