// SPDX-License-Identifier: MIT
#include "bench_run/row_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <utility>

#include "bench_run/refusal.h"
#include "bench_run/variables_below.h"
#include "csv/row.h"
#include "os/run_folder.h"
#include "session/options/options.h"
#include "session/outside.h"
#include "syscost/schema.h"

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

/// What the row of a program's beginning holds: columns `window` to `syscall`. Of those of its ends also the columns
/// before, from `kind` on. No text of a test stands between them.
constexpr std::string_view kBegins = ",begin,,0,run,,";
constexpr std::string_view kEnds = ",run,,end,,0,run,,";
constexpr std::string_view kPassed = ",passed,";
constexpr std::string_view kFailed = ",failed,";

/// True for a row of this run in the CSV at `path`.
bool is_of_this_run(const std::string& line, const std::string& path) {
  const char* const run_id = getenv("SYSCOST_RUN_ID");
  const std::size_t version_end = line.find_first_not_of("0123456789");
  const bool is_row = version_end != 0 && version_end != std::string::npos && line[version_end] == ',';
  if (run_id == nullptr || !is_row) return false;
  // All rows of a file that is only for this command are its rows, also if a program below has an id of its own.
  if (g_folder && path == g_folder->rows()) return true;
  // As the writer of rows has it, and as a cell of its own: `7` is not the end of another id.
  std::pmr::string id;
  csv::append_field(id, run_id);
  const std::string cell = std::string(id) + ",";
  return line.compare(version_end + 1, cell.size(), cell) == 0;
}

/// The first cells of a row, without their quotes. `end`: where they end in it.
std::vector<std::string> first_cells(const std::string& line, std::size_t count, std::size_t* end = nullptr) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    const char one = line[at];
    if (one == '"') is_quoted = !is_quoted;
    if (one == ',' && !is_quoted) {
      if (cells.size() == count) break;
      cells.emplace_back();
    } else if (one != '"') {
      cells.back() += one;
    }
  }
  if (end != nullptr) *end = at;
  return cells;
}

/// A program from a row of its own.
RowFile::Program program_in(const std::string& line) {
  std::size_t end = 0;
  std::vector<std::string> cells = first_cells(line, static_cast<std::size_t>(schema::Column::kKind), &end);
  cells.resize(static_cast<std::size_t>(schema::Column::kKind));
  return {cells[static_cast<std::size_t>(schema::Column::kProgram)],
          cells[static_cast<std::size_t>(schema::Column::kPid)], line.substr(0, end)};
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

RowFile::Rows RowFile::rows_of_this_run() const {
  std::ifstream file(path_, std::ios::binary);
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return Rows::of_tests;
  if (!file) return Rows::none;
  file.seekg(size_before_);
  constexpr auto kKind = static_cast<std::size_t>(schema::Column::kKind);
  bool has_end = false;
  bool has_others = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find(kBegins) != std::string::npos) continue;  // a program that may have crashed in its first test
    if (!is_of_this_run(line, path_)) continue;
    if (line.find(kEnds) != std::string::npos) {
      has_end = true;
      continue;
    }
    const std::string kind = first_cells(line, kKind + 1).back();
    if (kind != "environment" && kind != schema::kKindBetween) return Rows::of_tests;
    has_others = true;
  }
  if (has_end) return Rows::of_programs_without_tests;
  return has_others ? Rows::of_tests : Rows::none;  // of a crash, the summary says more
}

std::vector<RowFile::Program> RowFile::programs() const {
  std::ifstream file(path_, std::ios::binary);
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  file.seekg(size_before_);
  std::vector<Program> programs;
  for (std::string line; std::getline(file, line);) {
    if (!is_of_this_run(line, path_)) continue;
    if (line.find(kBegins) != std::string::npos) {
      programs.push_back(program_in(line));
    } else if (const std::size_t end = line.find(kEnds); end != std::string::npos) {
      for (Program& one : programs) {
        if (line.compare(0, end, one.first_cells) != 0) continue;
        one.has_ended = true;
        one.has_passed = line.find(kPassed, end) != std::string::npos;
        one.has_failed = line.find(kFailed, end) != std::string::npos;
      }
    }
  }
  return programs;
}

}  // namespace syscost::bench_run
