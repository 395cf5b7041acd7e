// SPDX-License-Identifier: MIT
#include "csv/find_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "csv/file_kind.h"

namespace syscost::bench::csv {
namespace {

namespace fs = std::filesystem;

/// The kind of a folder's entry that has the name of a CSV but is no file. "" for a file, and for an entry that cannot
/// be examined: opening it then tells why.
const char* not_a_file(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::character:
    case fs::file_type::block:
      return "a device";
    default:
      return "";
  }
}

/// True for a file of Google Benchmark. If that cannot be told, the file is named: it may be one.
bool is_wanted_json(const std::string& file, Problems& problems) {
  Input input(file);
  Problems why;
  if (!input.open(why)) {
    problems.remark(file, "cannot be opened; left out, though it may be of Google Benchmark");
    return false;
  }
  switch (benchmark_json(input)) {
    case BenchmarkJson::yes:
      return true;
    case BenchmarkJson::unknown:
      problems.remark(file, "not whole JSON; left out, though it may be of Google Benchmark");
      break;
    case BenchmarkJson::no:
      if (input.beginning().empty()) problems.remark(file, "empty; left out, though it may be of Google Benchmark");
      break;
  }
  return false;
}

/// True if the rows of this entry belong to the folder's run.
bool is_wanted(const fs::directory_entry& entry, Problems& problems) {
  std::error_code ignored;
  const fs::file_status status = entry.status(ignored);
  if (fs::is_directory(status)) return false;
  const std::string file = entry.path().string();
  if (file.ends_with(".csv") || file.ends_with(".csv.gz")) {
    const std::string what = not_a_file(status);
    if (what.empty()) return true;
    const char* const fix = fs::is_socket(status) ? "" : ": give its name as RUN to read it";
    problems.add(file, 0, fmt::format("{}, not a file; left out, because reading it may never end{}", what, fix));
    return false;
  }
  // A folder of results also holds JSON files of other tools.
  const bool has_name = file.ends_with(".json") || file.ends_with(".json.gz");
  return has_name && fs::is_regular_file(status) && is_wanted_json(file, problems);
}

constexpr const char* kBazelArchive = "outputs.zip";

/// The folder's files with rows of its run. `error`: why the folder, or one below it, cannot be read.
template <typename Entries>
std::vector<std::string> wanted_files(Entries entries, std::error_code& error, Problems& problems) {
  std::vector<std::string> files;
  for (const Entries end; !error && entries != end; entries.increment(error)) {
    const fs::path& path = entries->path();
    if (is_wanted(*entries, problems)) files.push_back(path.string());
    std::error_code ignored;
    if (path.filename() == kBazelArchive && !fs::exists(path.parent_path() / "syscost.csv", ignored)) {
      problems.add(path.string(), 0,
                   "bench does not read this archive of Bazel; unpack it, or give `bazel test` the option "
                   "--nozip_undeclared_test_outputs (Bazel 5 and newer)");
    }
  }
  return files;
}

}  // namespace

Run find_files(const std::string& name, Folders folders, Problems& problems) {
  Run run{name, false, {}};
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (!fs::exists(status)) {
    problems.add(name, 0,
                 error && error != std::errc::no_such_file_or_directory ? "cannot be read: " + error.message()
                                                                        : "no such file or folder");
    return run;
  }
  run.is_folder = fs::is_directory(status);
  if (!run.is_folder) {
    run.files.emplace_back(name);
    return run;
  }
  const std::size_t problems_before = problems.count();
  std::vector<std::string> files = folders == Folders::flat
                                       ? wanted_files(fs::directory_iterator(name, error), error, problems)
                                       : wanted_files(fs::recursive_directory_iterator(name, error), error, problems);
  if (error) {
    problems.add(name, 0, "the folder cannot be read: " + error.message());
  } else if (files.empty() && problems.count() == problems_before) {
    problems.add(name, 0,
                 std::string("no *.csv, no *.csv.gz and no *.json of Google Benchmark in this folder") +
                     (folders == Folders::flat ? "; --recursive searches the folders below, too" : " and those below"));
  }
  std::sort(files.begin(), files.end());
  for (std::string& file : files) run.files.emplace_back(std::move(file));
  return run;
}

}  // namespace syscost::bench::csv
