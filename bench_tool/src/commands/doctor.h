// SPDX-License-Identifier: MIT
//
// bench doctor: runs the doctor of a measured binary, which shows whether this machine can measure it.
//
// bench has no backend of its own: only the binary has those that it was built with. So bench runs the binary with
// --syscost_doctor, by exec, never through a shell.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns 0 if the binary's doctor returned 0, else 2.
int doctor(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
