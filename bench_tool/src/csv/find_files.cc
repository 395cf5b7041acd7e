// SPDX-License-Identifier: MIT
#include "csv/find_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "csv/file_kind.h"

namespace syscost::bench::csv {

std::vector<std::string> find_files(const std::string& run, Problems& problems) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(run, error);
  if (!fs::exists(status)) {
    problems.add(run, 0,
                 error && error != std::errc::no_such_file_or_directory ? "cannot be read: " + error.message()
                                                                        : "no such file or folder");
    return {};
  }
  if (!fs::is_directory(status)) return {run};
  std::vector<std::string> files;
  for (fs::directory_iterator it(run, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) continue;
    const std::string file = it->path().string();
    // A folder of results holds other people's JSON as well.
    const bool is_ours =
        it->path().extension() == ".csv" || (it->path().extension() == ".json" && is_benchmark_json(file));
    if (is_ours) files.push_back(file);
  }
  if (error) {
    problems.add(run, 0, "the folder cannot be read: " + error.message());
  } else if (files.empty()) {
    problems.add(run, 0, "no *.csv and no *.json of Google Benchmark in this folder (sub-folders are not searched)");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace syscost::bench::csv
