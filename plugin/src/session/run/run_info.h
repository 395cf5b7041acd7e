// SPDX-License-Identifier: MIT
//
// Run info: the columns that say where a row comes from: run, machine, build.
//
// Two CSVs can be compared honestly only if each row names what it measured. syscost reads these values once, before
// the first window, from files and memory; it runs no program. Unknown values stay empty.
#pragma once

#include <string>
#include <string_view>

#include "csv/run_columns.h"
#include "csv/sink.h"
#include "session/options/options.h"

namespace syscost::session {

/// Reads all columns now, except `backend` and `selection`. `build_type` is that of the framework's adapter, or empty.
csv::RunColumns read_run_info(const Options& options, std::string_view build_type);

/// True if the CSV at `path` has rows of this process's program and run: of workers that it forked, for one.
bool has_rows_of_this_program(const std::string& path, const Options& options);

/// The first line of a run, for people: `backend ebpf (131 ns added per call while counting), csv FILE, run
/// ID`. `how` follows the backend's name; `csv` is empty if no file is written.
std::string header_line(const csv::RunColumns& run, const std::string& how, const std::string& csv);

/// `path` as an absolute path. Under ctest, a relative path from the environment starts in the folder of the tests that
/// ctest runs, because each test may have another working directory and one variable serves all tests. Every other
/// relative path starts in the working directory. Fails if the folder of the tests cannot be found.
Result<std::string> resolve_path(const std::string& path, Source source);

/// Returns the lifetime of the CSV at the absolute path `path`: temporary if `bench run` made it.
csv::Lifetime lifetime_of_csv(const std::string& path);

/// True if both paths name one regular file, through links too, and also if it does not exist yet. False for other
/// kinds of files, like /dev/null.
bool are_one_file(const std::string& one, const std::string& other);

}  // namespace syscost::session
