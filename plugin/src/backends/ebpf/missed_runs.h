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

#include "os/result.h"

namespace syscost::ebpf {

/// Which programs' missed runs are asked for.
enum class Runs {
  of_entries,  ///< Of the program that sees entries, and as long as it has missed none, of no other.
  of_all,
};

/// By the holder: of all of them, since they were loaded.
Result<std::uint64_t> missed_runs(const std::vector<int>& programs);

/// By the holder: a file for each program, in that order, which the caller closes. Empty where /proc shows none. For
/// one client alone: who reads an open file keeps its other readers waiting, and a client could read into memory that
/// never comes.
std::vector<int> open_run_files(const std::vector<int>& programs);

/// A program's file, as it was read.
struct RunFile {
  std::uint64_t program = 0;  ///< The kernel's number of it.
  std::uint64_t missed_runs = 0;
};
/// Empty where `text` is anything else.
std::optional<RunFile> parse_run_file(std::string_view text);

/// The files as a client keeps them.
class RunFiles {
 public:
  RunFiles() = default;
  /// Takes over the descriptors, that of the program that sees entries first. None is kept where one of them is not
  /// such a file, or where they would take numbers that the test expects.
  explicit RunFiles(std::span<const int> descriptors);
  RunFiles(RunFiles&& other) noexcept : files_(std::exchange(other.files_, {})) {}
  RunFiles& operator=(RunFiles&&) = delete;
  RunFiles(const RunFiles&) = delete;
  ~RunFiles();

  /// Missed runs of all, with those that are not asked for as they were read last. Empty where there are no files, or
  /// they tell nothing any more: the helper has ended, the test closed them, or a filter denies it. Then it stays so.
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
