// SPDX-License-Identifier: MIT
//
// RUN: the one noun of bench's command line. A CSV, a JSON of Google Benchmark, a pipe that delivers one of them, or a
// folder: then bench reads the files of these kinds in it, by name, and none in the folders below.
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

/// The files that the argument `name` stands for. It is a problem if the path is neither a file nor a folder, or if the
/// folder has no such file. A pipe, socket or device in a folder is left out, and is a problem, too.
Run find_files(const std::string& name, Problems& problems);

}  // namespace syscost::bench::csv
