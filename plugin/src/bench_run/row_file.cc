// SPDX-License-Identifier: MIT
#include "bench_run/row_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "agent/common/variables.h"
#include "bench_run/command.h"
#include "bench_run/options.h"
#include "os/message_output.h"
#include "os/proc.h"
#include "os/temporary_folder.h"
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

/// This `bench run`, as it stands in the list of session::kBenchRuns. Read once: it is what the programs were told,
/// also if /proc cannot be read later.
const std::string& this_bench_run() {
  static const std::string its = [] {
    const std::string start = start_time(getpid());
    return std::to_string(getpid()) + "-" + (start.empty() ? "0" : start);
  }();
  return its;
}

/// A row of a program's run, with the facts about it, that was written below this `bench run`.
bool has_this_above(const Cells& cells) {
  if (cells[Column::kRecord] != schema::kRecordRun) return false;
  const std::string& facts = cells[Column::kDetail];
  const std::string name = ";" + std::string(schema::kFactBenchRun) + "=";
  const std::size_t at = (";" + facts).find(name);
  if (at == std::string::npos) return false;
  const std::size_t begin = at + name.size() - 1;
  const std::string runs = "+" + facts.substr(begin, facts.find(';', begin) - begin) + "+";
  return runs.find("+" + this_bench_run() + "+") != std::string::npos;
}

/// Rows of the programs below this `bench run`. Others may write to the same file, also with the same run id.
class RowsBelow {
 public:
  /// `path`: the CSV. All rows of a file that is only for this command are its own.
  explicit RowsBelow(const std::string& path) : has_all_(g_folder && path == g_folder->rows()) {}

  /// Quick: no row like this one and those before is of a program below. The file may have a million of other runs.
  bool may_have(const std::string& line) const {
    return has_all_ || !programs_.empty() || line.find(schema::kFactBenchRun) != std::string::npos;
  }
  /// To be asked for a program's rows of its run before its other rows.
  bool have(const Cells& cells) {
    const std::string& version = cells[Column::kSchemaVersionColumn];
    if (version.empty() || version.find_first_not_of("0123456789") != std::string::npos) return false;
    // Forked workers have numbers of their own.
    Program one{cells[Column::kRunId], cells[Column::kHost], cells[Column::kStartedAt], cells[Column::kProgram]};
    if (has_this_above(cells)) programs_.insert(one);
    return has_all_ || programs_.count(one) != 0;
  }

 private:
  using Program = std::array<std::string, 4>;

  bool has_all_;
  std::set<Program> programs_;
};

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
}

void RowFile::check() const {
  if (const std::optional<Unavailable> why = outside::check_csv(path_)) refuse(why->reason, why->how_to_fix);
}

void RowFile::tell_programs() const {
  const char* const above = getenv(session::kBenchRuns);
  const std::string runs = above != nullptr && *above != '\0' ? std::string(above) + "+" : std::string();
  setenv(session::kBenchRuns, (runs + this_bench_run()).c_str(), 1);
  unsetenv(agent::kFilteredVariable);  // of a bench run above
  setenv(kBenchOutput, message_file().c_str(), 1);
  if (g_folder && path_ == g_folder->rows()) setenv(session::kTemporaryCsv, path_.c_str(), 1);
}

std::string RowFile::file_for_notes() {
  return g_folder && g_folder->is_made() ? g_folder->notes() : std::string();
}

void RowFile::remove_temporary() {
  if (g_folder) g_folder->remove();
}

RowFile::Rows RowFile::rows_of_this_run() const {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return Rows::of_tests;
  if (access(path_.c_str(), R_OK) != 0) {
    if (errno == ENOENT) return Rows::none;
    std::fprintf(stderr,
                 "bench: %s cannot be read back (%s), so it is not known whether tests have rows in it\n"
                 "  fix: chmod u+r it, and check the umask\n",
                 path_.c_str(), std::strerror(errno));
    return Rows::of_tests;
  }
  std::ifstream file(path_, std::ios::binary);
  RowsBelow rows(path_);
  bool has_end = false;
  bool has_others = false;
  for (std::string line; std::getline(file, line);) {
    if (!rows.may_have(line)) continue;
    const Cells cells(line, Column::kDetail);
    if (!rows.have(cells) || cells.is_of_run(schema::kRunBegins)) continue;  // it may have crashed in its first test
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
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::ifstream file(path_, std::ios::binary);
  RowsBelow rows(path_);
  std::vector<Program> programs;
  for (std::string line; std::getline(file, line);) {
    if (line.find(kMayBegin) == std::string::npos && line.find(kMayEnd) == std::string::npos) continue;
    const Cells cells(line, Column::kOutcome);
    if (!rows.have(cells)) continue;
    if (cells.is_of_run(schema::kRunBegins) && !has_this_above(cells)) continue;
    const std::string_view first_cells = std::string_view(line).substr(0, cells.before_kind());
    if (cells.is_of_run(schema::kRunBegins)) {
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
