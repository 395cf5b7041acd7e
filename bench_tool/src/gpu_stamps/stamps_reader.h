// SPDX-License-Identifier: MIT
//
// Reads a stamp file (docs/gpu.md): its launches, each with what was stamped.
//
// As of the run's CSV, a line that cannot be used becomes a problem with its number, and the next one is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "csv/input.h"
#include "csv/problems.h"
#include "syscost/gpu/stamps.h"

namespace syscost::bench::gpu_stamps {

/// True for an open input that begins as a stamp file does.
bool is_stamp_file(csv::Input& input);

/// The launches of the open `input`, in the order in which they appear in it.
std::vector<gpu::StampedLaunch> read_stamps(csv::Input& input, csv::Problems& problems);

/// The same for a file that is not open yet.
std::vector<gpu::StampedLaunch> read_stamps(const std::string& file, csv::Problems& problems);

/// The same for text in memory, called `name` in messages.
std::vector<gpu::StampedLaunch> read_stamps_text(const std::string& name, std::string_view text,
                                                 csv::Problems& problems);

}  // namespace syscost::bench::gpu_stamps
