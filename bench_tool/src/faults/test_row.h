// SPDX-License-Identifier: MIT
//
// TestRow: what the CSV and the trace of a run say about one test, and which of its calls cannot lose anything when
// they fail (WrittenFiles).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "faults/outcome.h"
#include "faults/plan.h"
#include "trace/trace_file.h"

namespace syscost::bench::faults {

/// The names of the tests of a CSV, in the order in which they ran. Nothing if it cannot be read.
std::vector<std::string> tests_in(const std::filesystem::path& csv);

/// Fills in what the row of `test` says; has_row stays false if there is none. `failure`: which one was to happen; null
/// = none.
void read_row(const std::filesystem::path& csv, const std::string& test, const Failure* failure, Observed& observed);

/// The calls of `test`, by syscall and call site. With a trace below `traces`, each call has its site and its number;
/// else there is one place for each syscall. If there is a trace, calls that can lose nothing are left out
/// (WrittenFiles).
std::vector<Place> places_of(const std::filesystem::path& csv, const std::filesystem::path& traces,
                             const std::string& test);

/// The calls of a test that cannot lose anything when they fail, so that a sweep leaves them out.
///
/// The kernel reports a late error of write() by close(). So close() can fail only if data of the file may still be on
/// its way to the disk: something was written by this open file since it was opened or last synced. A close() of a file
/// that was opened for reading, of one that has been synced, or of a pipe or a socket has nothing that could fail.
class WrittenFiles {
 public:
  explicit WrittenFiles(const trace::TraceFile& file) : file_(file) {}

  /// Takes the calls in their order. True for a call that prints (write to descriptor 1 or 2), and for a close() that
  /// has nothing to report.
  bool is_harmless(const trace::Call& call);

 private:
  /// An open file that open() made; all its duplicates share it.
  struct OpenFile {
    bool is_kept = true;  ///< On a disk, and its writes return before their data is there.
    bool is_dirty = false;
  };

  std::string argument(const trace::Call& call, std::string_view name) const;
  void open(const trace::Call& call);
  void write(const std::string& descriptor);
  void sync(const trace::Call& call);
  /// True if the file had nothing that close() could report.
  bool close(const std::string& descriptor);

  const trace::TraceFile& file_;
  std::map<std::string, std::shared_ptr<OpenFile>, std::less<>> files_;  ///< By descriptor, as the trace prints it.
  bool has_pipes_ = false;  ///< Descriptors without a file may be those of a pipe or a pair of sockets.
};

}  // namespace syscost::bench::faults
