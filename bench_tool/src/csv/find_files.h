// SPDX-License-Identifier: MIT
//
// RUN: the one noun of bench's command line. A CSV, a JSON of Google Benchmark, a pipe that delivers one of them, or a
// folder whose files of these kinds (one level, by name) are read.
#pragma once

#include <string>
#include <vector>

#include "csv/input.h"
#include "csv/problems.h"

namespace syscost::bench::csv {

struct Run {
  std::string name;  ///< The argument.
  bool is_folder = false;
  std::vector<Input> files;  ///< Not open yet.
};

/// What is behind the argument `name`. A path that is neither file nor folder, and a folder without any file, is a
/// problem; so is a pipe, socket or device in a folder, which is left out.
Run find_files(const std::string& name, Problems& problems);

}  // namespace syscost::bench::csv
