// SPDX-License-Identifier: MIT
//
// RUN: the one noun of bench's command line, and the files that it stands for.
//
// A RUN is a CSV, a JSON of Google Benchmark, a pipe that delivers one of them, or a folder. In a folder, bench reads
// the files of these kinds, by name, and if asked those of the folders below. It detects the kind of a file by its
// content, because a name proves nothing.
#pragma once

#include <string>
#include <vector>

#include "csv/input.h"
#include "csv/problems.h"

namespace syscost::bench::csv {

/// True for an open input that begins with `{`, after white space or a byte order mark.
bool is_json(Input& input);

/// Whether an open input is of Google Benchmark.
enum class BenchmarkJson {
  no,
  yes,      ///< An object with its two keys: other tools put them in another order, or white space between.
  unknown,  ///< It begins as an object, and ends before it could be told.
};
BenchmarkJson benchmark_json(Input& input);

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

/// Adds the files of all `names` to `all`, so that they are read as one RUN. True if one of them is a folder. A file
/// that is named again, perhaps by a link or with its folder, is left out and is a problem: its rows would count twice.
bool add_files(Run& all, const std::vector<std::string>& names, Folders folders, Problems& problems);

}  // namespace syscost::bench::csv
