// SPDX-License-Identifier: MIT
//
// RUN: the one noun of bench's command line. A CSV, a JSON of Google Benchmark, a pipe that delivers one of them, or a
// folder: then bench reads the files of these kinds in it, by name. It reads those of the folders below if asked.
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

enum class Folders { flat, recursive };

/// The files that the argument `name` stands for. It is a problem if the path is neither a file nor a folder, or if the
/// folder has no such file. A pipe, socket or device in a folder is left out, and is a problem, too. With
/// Folders::recursive the files of all folders below count, but links to folders are not followed, since they may lead
/// back; results that Bazel packed into an archive are a problem.
Run find_files(const std::string& name, Folders folders, Problems& problems);

}  // namespace syscost::bench::csv
