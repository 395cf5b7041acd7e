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
#include "gpu_stamps/analysis.h"
#include "render/terminal.h"

namespace syscost::bench::gpu_stamps {

/// `Sum.Tree, GPU kernel sum_tree, launch 0`
std::string name_of(const gpu::StampedLaunch& launch);

/// `(3,0,0)`
std::string place_text(const gpu::Extent3& place);

std::string stamps_text(const Analysis& analysis, const render::Paint& paint);
std::string stamps_json(const std::string& file, const std::vector<Analysis>& analyses);
/// One row for each stamp; times from the launch's first stamp, so that they are exact in any tool.
std::string stamps_csv(const std::vector<Analysis>& analyses);
/// One picture: what ran on each SM when, and below it how long each warp took.
std::string stamps_svg(const Analysis& analysis);

/// Shows the open `input`; returns the exit code. `options.test`, where it is not empty, is a part of the launches'
/// names that are shown.
int show_stamps(const cli::Options& options, csv::Input& input, const render::Paint& paint, std::ostream& out,
                std::ostream& err);

/// Pictures of the first launches in the stamp file `path`, of its newest run; at most `most`.
std::vector<std::string> pictures_of(const std::string& path, std::size_t most, csv::Problems& problems);

}  // namespace syscost::bench::gpu_stamps
