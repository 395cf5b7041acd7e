// SPDX-License-Identifier: MIT
//
// bench show: the latency histograms of one test, drawn as bpftrace draws them.
#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "render/paint.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int show(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
