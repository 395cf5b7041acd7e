// SPDX-License-Identifier: MIT
//
// RUN: the one noun of bench's command line. A CSV, a JSON of Google Benchmark, or a folder
// whose files of these kinds (one level, by name) are read.
#pragma once

#include <string>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::csv {

/// The files behind one RUN argument. A path that is neither file nor folder, or a folder without any, is a
/// problem.
std::vector<std::string> find_files(const std::string& run, Problems& problems);

}  // namespace syscost::bench::csv
