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
#include "os/own_proc.h"
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

/// All rows of a program's beginning hold the first, and all of its end the second. Other rows may, in a name.
constexpr std::string_view kMayBegin = ",begin,,0,run,,";
constexpr std::string_view kMayEnd = ",run,,end,,0,run,,";

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

using schema::Column;

/// The first cells of a row.
class Cells {
 public:
  /// Those up to `last`.
  Cells(const std::string& line, Column last) : cells_(1) {
    const auto count = static_cast<std::size_t>(last) + 1;
    bool is_quoted = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const char one = line[at];
      if (one == '"' && is_quoted && line[at + 1] == '"') {
        cells_.back() += line[at++];
      } else if (one == '"') {
        is_quoted = !is_quoted;
      } else if (one == ',' && !is_quoted) {
        if (cells_.size() == static_cast<std::size_t>(Column::kKind)) before_kind_ = at;
        if (cells_.size() == count) break;
        cells_.emplace_back();
      } else {
        cells_.back() += one;
      }
    }
    cells_.resize(count);
  }

  const std::string& operator[](Column column) const { return cells_[static_cast<std::size_t>(column)]; }
  /// Where the columns before `kind` end in the line.
  std::size_t before_kind() const { return before_kind_; }
  /// `which`: schema::kRunBegins or kRunEnds. A test may have the name of one.
  bool is_of_run(std::string_view which) const {
    return (*this)[Column::kRecord] == schema::kRecordRun && (*this)[Column::kWindow] == which;
  }

 private:
  std::vector<std::string> cells_;
  std::size_t before_kind_ = 0;
};

/// This `bench run`, as it stands in the list of session::kBenchRuns.
std::string this_bench_run() {
  const std::string start = start_time(getpid());
  return std::to_string(getpid()) + "-" + (start.empty() ? "0" : start);
}

/// A row of a program's run, with the facts about it, that was written below this `bench run`. Others with the same run
/// id may write to the same file.
bool is_below_this(const Cells& cells) {
  if (cells[Column::kRecord] != schema::kRecordRun) return false;
  const std::string& facts = cells[Column::kDetail];
  const std::string name = ";" + std::string(schema::kFactBenchRun) + "=";
  const std::size_t at = (";" + facts).find(name);
  if (at == std::string::npos) return false;
  const std::size_t begin = at + name.size() - 1;
  const std::string runs = "+" + facts.substr(begin, facts.find(';', begin) - begin) + "+";
  return runs.find("+" + this_bench_run() + "+") != std::string::npos;
}

/// The size of the CSV before the command runs. 0 where it is not there yet, or no regular file.
off_t size_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

}  // namespace

RowFile::RowFile(std::string named) : path_(std::move(named)), is_named_(!path_.empty()) {
  const char* const variable = getenv("TMPDIR");
  const std::string temporary = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  // A program below may have another working directory.
  g_folder.emplace(temporary.front() == '/' ? temporary : working_directory() + "/" + temporary);
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

void RowFile::tell_programs() const {
  const char* const above = getenv(session::kBenchRuns);
  const std::string runs = above != nullptr && *above != '\0' ? std::string(above) + "+" : std::string();
  setenv(session::kBenchRuns, (runs + this_bench_run()).c_str(), 1);
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
  bool has_begin = false;  // before all other rows of a program and of its forked workers
  bool has_end = false;
  bool has_others = false;
  for (std::string line; std::getline(file, line);) {
    if (!is_of_this_run(line, path_)) continue;
    const Cells cells(line, Column::kDetail);
    has_begin = has_begin || is_below_this(cells);
    if (!has_begin || cells.is_of_run(schema::kRunBegins)) continue;  // it may have crashed in its first test
    if (cells.is_of_run(schema::kRunEnds)) {
      has_end = true;
    } else if (cells[Column::kKind] != "environment" && cells[Column::kKind] != schema::kKindBetween) {
      return Rows::of_tests;
    } else {
      has_others = true;
    }
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
    if (line.find(kMayBegin) == std::string::npos && line.find(kMayEnd) == std::string::npos) continue;
    const Cells cells(line, Column::kOutcome);
    const std::string_view first_cells = std::string_view(line).substr(0, cells.before_kind());
    if (cells.is_of_run(schema::kRunBegins)) {
      if (!is_below_this(cells)) continue;
      programs.push_back({cells[Column::kProgram], cells[Column::kPid], std::string(first_cells)});
    } else if (cells.is_of_run(schema::kRunEnds)) {
      for (Program& one : programs) {
        if (first_cells != one.first_cells) continue;
        one.has_ended = true;
        one.has_passed = cells[Column::kOutcome] == "passed";
        one.has_failed = cells[Column::kOutcome] == "failed";
      }
    }
  }
  return programs;
}

}  // namespace syscost::bench_run
