// SPDX-License-Identifier: MIT
#include "bench_run/row_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory_resource>
#include <optional>
#include <utility>

#include "bench_run/refusal.h"
#include "bench_run/variables_below.h"
#include "csv/row.h"
#include "os/run_folder.h"
#include "session/options/options.h"
#include "session/outside.h"

namespace syscost::bench_run {
namespace {

/// Static, so that refuse() and a signal remove it.
std::optional<RunFolder> g_folder;

/// The folder for files that Bazel brings back from the machine that ran a test; empty elsewhere. `--run_under` cannot
/// name it, because Bazel does not expand variables there.
std::string folder_of_bazel() {
  const char* const folder = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr || *folder == '\0') return {};
  return *folder == '/' ? folder : working_directory() + "/" + folder;
}

/// The size of the CSV before the command runs. 0 where it is not there yet, or no regular file.
off_t size_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

}  // namespace

RowFile::RowFile(std::string named) : path_(std::move(named)), is_named_(!path_.empty()) {
  const char* const variable = getenv("TMPDIR");
  g_folder.emplace(variable != nullptr && *variable != '\0' ? variable : "/tmp");
  if (!is_named_) {
    const std::string to_keep = folder_of_bazel();
    if (!to_keep.empty()) {
      path_ = to_keep + "/syscost.csv";
    } else if (g_folder->is_made()) {
      path_ = g_folder->rows();
      // Files of tools and traces are for the user, so they do not lie beside this CSV.
      setenv("SYSCOST_ARTIFACTS", (working_directory() + "/syscost_artifacts").c_str(), 0);
    } else {
      refuse("no temporary folder can be made: " + g_folder->path() + ": " + std::strerror(errno),
             "set TMPDIR to a folder where you may write, or name a file: bench run --csv=run.csv -- ...");
    }
    setenv("SYSCOST_CSV", path_.c_str(), 1);
  }
  size_before_ = size_of(path_);
}

void RowFile::check() const {
  if (const std::optional<Unavailable> why = outside::check_csv(path_)) refuse(why->reason, why->how_to_fix);
}

void RowFile::let_programs_outlive_it() const {
  if (g_folder && path_ == g_folder->rows()) setenv(session::kTemporaryCsv, path_.c_str(), 1);
}

std::string RowFile::file_for_notes() {
  return g_folder && g_folder->is_made() ? g_folder->notes() : std::string();
}

void RowFile::remove_temporary() {
  if (g_folder) g_folder->remove();
}

bool RowFile::has_rows_of_this_run() const {
  std::ifstream file(path_, std::ios::binary);
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return true;
  const char* const run_id = getenv("SYSCOST_RUN_ID");
  if (!file || run_id == nullptr) return false;
  file.seekg(size_before_);
  // As the writer of rows has it, and as a cell of its own: `7` is not the end of another id.
  std::pmr::string id;
  csv::append_field(id, run_id);
  const std::string cell = std::string(id) + ",";
  // All rows of a file that is only for this command are its rows, also if a program below has an id of its own.
  const bool is_ours = g_folder && path_ == g_folder->rows();
  for (std::string line; std::getline(file, line);) {
    const std::size_t version_end = line.find_first_not_of("0123456789");
    const bool is_row = version_end != 0 && version_end != std::string::npos && line[version_end] == ',';
    if (is_row && (is_ours || line.compare(version_end + 1, cell.size(), cell) == 0)) return true;
  }
  return false;
}

}  // namespace syscost::bench_run
