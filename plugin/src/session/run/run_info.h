// SPDX-License-Identifier: MIT
//
// Run info: which run this is, on what machine, of which build: the columns that say where a number comes from.
//
// Two CSVs can be compared honestly only when each row says what it measured. All of it is read once, before the first
// window, from files and memory: no program is run. What is unknown stays empty.
#pragma once

#include <string>
#include <string_view>

#include "csv/run_columns.h"
#include "session/options/options.h"

namespace syscost::session {

/// Reads everything, now. `build_type` is what the framework's adapter was compiled as, or
/// empty. Leaves `backend` and `selection` empty.
csv::RunColumns read_run_info(const Options& options, std::string_view build_type);

/// The line that a run begins with, for people: `backend ebpf (131 ns added per call while counting), csv FILE, run
/// ID`. `how` follows the backend's name; `csv` is empty where no file is written.
std::string header_line(const csv::RunColumns& run, const std::string& how, const std::string& csv);

/// `path` as an absolute path. A relative path from the environment starts in the folder of the tests that ctest runs,
/// because ctest gives each test its own working directory and one variable serves them all. Every other relative path
/// starts in the working directory. Fails when the folder of the tests cannot be found.
Result<std::string> resolve_path(const std::string& path, Source source);

/// True when writing to one of them writes to the other: by whatever names, whether or not they exist. False for what
/// is no regular file, like /dev/null.
bool are_one_file(const std::string& one, const std::string& other);

}  // namespace syscost::session
