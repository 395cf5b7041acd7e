// SPDX-License-Identifier: MIT
//
// bench doctor: shows whether this machine can measure.
//
// bench has no backend of its own. syscost-run, which is installed with it, has those of this syscost; a measured
// binary has those that it was built with. So bench runs the doctor of the one or the other, by exec, never through a
// shell.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns 0 if the doctor returned 0, else 2.
int doctor(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
