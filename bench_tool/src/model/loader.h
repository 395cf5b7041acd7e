// SPDX-License-Identifier: MIT
//
// The loader: from files to a Dataset.
//
// Decides what counts: which run of a file, and that no row counts twice. A file grows by appending, so that it
// usually holds many runs; people mean the newest unless they say otherwise.
#pragma once

#include <string>
#include <string_view>

#include "csv/problems.h"
#include "csv/run_files.h"
#include "model/choice.h"
#include "model/dataset.h"

namespace syscost::bench::model {

struct LoadOptions {
  csv::Folders folders = csv::Folders::flat;  ///< Where load() of a path looks for files.
  std::string run_id;                         ///< Only this run, as --run names it; empty = the newest of each file.
  bool all_runs = false;                      ///< Every run, pooled.
  bool is_history = false;                    ///< Runs stay apart: shards of one do not stand in for those of another.
  bool keep_rows = true;                      ///< False: windows without their syscalls.
  bool keep_intervals = false;   ///< Windows of kind `interval`; they repeat what the command's window says.
  bool keep_between = false;     ///< Windows of kind `between`: programs between their tests.
  bool keep_histograms = false;  ///< For tests that `test_part`, a part of a display name, may mean.
  bool keep_sites = false;       ///< Dataset::site_rows. Dataset::rows never tell the sites of a syscall apart.
  std::string test_part;
  bool only_test_part = false;  ///< Other windows are not kept, where the files can be read a second time for them.
  TestChoice tests;             ///< Windows of other tests are not kept.
  bool is_printable = false;    ///< Texts of the result are made printable: every format but JSON.
};

/// Reads `run`. Notes in `problems` every line that was not used and why; what could be read is in the result.
Dataset load(csv::Run run, const LoadOptions& options, csv::Problems& problems);

/// The same for the argument `path`.
Dataset load(const std::string& path, const LoadOptions& options, csv::Problems& problems);

/// The same for text in memory, for tests and the fuzzer.
Dataset load_text(const std::string& name, std::string_view text, const LoadOptions& options, csv::Problems& problems);

}  // namespace syscost::bench::model
