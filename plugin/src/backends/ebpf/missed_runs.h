// SPDX-License-Identifier: MIT
//
// Missed runs: those that the kernel skipped because the program was running on that CPU already. Each may be a call
// that was not counted, so each window's end reads their number.
//
// A process that holds a program uses bpf(2). For all others the kernel writes the number into the fdinfo of the
// program's descriptor, below /proc. The kernel checks permission when such a file is opened, not when it is read. So
// the helper opens them, and a client reads them without waking it. A helper that is stopped keeps no client waiting. A
// file gives no right to the program. docs/decisions/0018.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "os/errors.h"

namespace syscost::ebpf {

/// The programs with missed runs that a caller wants to know.
enum class Runs {
  of_entries,  ///< Of the program that sees entries; of the others only if that one has missed any.
  of_all,
};

/// In the process that holds the programs: missed runs of all of them, since they were loaded.
Result<std::uint64_t> missed_runs(const std::vector<int>& programs);

/// In the process that holds the programs: an open file for each program, in that order. The caller closes them. Empty
/// if /proc has none. Each client needs its own files: a reader of an open file keeps other readers waiting, and a
/// hostile client could read into memory that never becomes available.
std::vector<int> open_run_files(const std::vector<int>& programs);

/// The contents of a program's file.
struct RunFile {
  std::uint64_t program = 0;  ///< The kernel's number for the program.
  std::uint64_t missed_runs = 0;
};
/// Empty if `text` is something else.
std::optional<RunFile> parse_run_file(std::string_view text);

/// The files as a client keeps them.
class RunFiles {
 public:
  RunFiles() = default;
  /// Takes over the descriptors; the first belongs to the program that sees entries. Keeps none if one of them is not
  /// such a file, or if they would take numbers that the test expects.
  explicit RunFiles(std::span<const int> descriptors);
  RunFiles(RunFiles&& other) noexcept : files_(std::exchange(other.files_, {})) {}
  RunFiles& operator=(RunFiles&&) = delete;
  RunFiles(const RunFiles&) = delete;
  ~RunFiles();

  /// Missed runs of all programs; for those that are not `wanted`, the number read last. Empty if there are no files,
  /// or if they can no longer be read: the helper has ended, the test closed them, or a filter denies it. Then it stays
  /// empty.
  std::optional<std::uint64_t> read(Runs wanted);

 private:
  struct File {
    int descriptor = -1;
    RunFile last;  ///< As it was read last.
  };
  static bool read_again(File& file);
  void close_all();

  std::vector<File> files_;
};

}  // namespace syscost::ebpf
