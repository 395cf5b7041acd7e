// SPDX-License-Identifier: MIT
//
// bench doctor: asks a measured binary whether this machine can measure it.
//
// bench holds no backend: only the binary knows which ones it was built with. So it is run with --syscost_doctor, by
// exec, never through a shell.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns 0 when the binary's doctor did, else 2.
int doctor(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
