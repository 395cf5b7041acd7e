// SPDX-License-Identifier: MIT
//
// bench show of a stamp file: what each launch's stamps say, as text, JSON, CSV and a picture.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/input.h"
#include "csv/problems.h"
#include "render/paint.h"

namespace syscost::bench::gpu_stamps {

/// Shows the open `input`; returns the exit code. `options.test`, where it is not empty, is a part of the launches'
/// names that are shown.
int show_stamps(const cli::Options& options, csv::Input& input, const render::Paint& paint, std::ostream& out,
                std::ostream& err);

/// Pictures of the first launches in the stamp file `path`, of its newest run; at most `most`.
std::vector<std::string> pictures_of(const std::string& path, std::size_t most, csv::Problems& problems);

}  // namespace syscost::bench::gpu_stamps
