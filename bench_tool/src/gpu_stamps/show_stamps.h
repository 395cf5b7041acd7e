// SPDX-License-Identifier: MIT
//
// bench show of a stamp file: what each launch's stamps say, as text, JSON, CSV and a picture.
#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "csv/input.h"
#include "render/paint.h"

namespace syscost::bench::gpu_stamps {

/// Shows the open `input`; returns the exit code. `options.test`, where it is not empty, is a part of the launches'
/// names that are shown.
int show_stamps(const cli::Options& options, csv::Input& input, const render::Paint& paint, std::ostream& out,
                std::ostream& err);

}  // namespace syscost::bench::gpu_stamps
