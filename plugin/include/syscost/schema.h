// SPDX-License-Identifier: MIT
//
// The CSV schema: every column of a syscost CSV, in order, in one place.
//
// The measured process writes these columns and `bench` reads them. Both include this file, so that
// they cannot disagree; docs/csv-format.md defines what each column means and when it is empty, and a
// test holds that page against this list. A change here moves kSchemaVersion, the page and the golden
// files together: CONTRIBUTING.md lists all of them.
//
// A row is either of record `test` (what belongs to the window as a whole: times, totals, losses) or of
// record `syscall` (what belongs to one syscall of the window). The two sets of measures are disjoint: a column is
// filled on one kind of row only, so a sum over the rows of one window counts nothing twice. Windows may hold others: a
// test's calls include its scopes'. One row of record `run` has no measure: its `detail` says what the run found.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace syscost::schema {

/// Version written to column `schema_version`. Moves when a column or a record is added, removed, renamed or changes
/// meaning.
inline constexpr int kSchemaVersion = 1;

/// Text of the last column of every row; a row that does not end in it was torn by a crash or a full disk.
inline constexpr std::string_view kEndMark = "end";

// clang-format off
#define SYSCOST_CSV_COLUMNS(X)                                                       \
  /* which run, on what */                                                           \
  X(kSchemaVersionColumn, "schema_version") X(kRunId, "run_id")                      \
  X(kStartedAt, "started_at") X(kLabel, "label") X(kHost, "host")                    \
  X(kKernelRelease, "kernel_release") X(kCommit, "commit")                           \
  X(kBuildId, "build_id") X(kBuildType, "build_type") X(kBackend, "backend")         \
  X(kSelection, "selection") X(kFilter, "filter") X(kProgram, "program")             \
  /* which window */                                                                 \
  X(kPid, "pid") X(kKind, "kind") X(kTest, "test") X(kWindow, "window")              \
  X(kParent, "parent") X(kRepetition, "repetition") X(kRecord, "record")             \
  X(kSyscall, "syscall") X(kDetail, "detail") X(kOrigin, "origin")                   \
  /* `test` rows: the window as a whole */                                           \
  X(kOutcome, "outcome") X(kIterations, "iterations")                                \
  X(kCountedIterations, "counted_iterations") X(kWallNs, "wall_ns")                  \
  X(kUserNs, "user_ns") X(kSystemNs, "system_ns") X(kCpuNs, "cpu_ns")                \
  X(kOverheadEstimateNs, "overhead_estimate_ns")                                     \
  X(kVoluntarySwitches, "voluntary_switches")                                        \
  X(kInvoluntarySwitches, "involuntary_switches")                                    \
  X(kMinorFaults, "minor_faults") X(kMajorFaults, "major_faults")                    \
  X(kPeakRssBytes, "peak_rss_bytes")                                                 \
  X(kTotalEntries, "total_entries") X(kTotalCalls, "total_calls")                    \
  X(kTotalErrors, "total_errors") X(kTotalKernelNs, "total_kernel_ns")               \
  X(kTotalBytesRead, "total_bytes_read")                                             \
  X(kTotalBytesWritten, "total_bytes_written")                                       \
  X(kTotalBytesMapped, "total_bytes_mapped")                                         \
  X(kTotalBytesUnmapped, "total_bytes_unmapped")                                     \
  X(kDescriptorsLeft, "descriptors_left") X(kThreadsLeft, "threads_left")            \
  X(kChildrenLeft, "children_left") X(kMappedBytesLeft, "mapped_bytes_left")         \
  X(kPeakMappedBytes, "peak_mapped_bytes") X(kLeftOpen, "left_open")                 \
  X(kLate, "late") X(kLost, "lost")                                                  \
  /* `syscall` rows: one syscall of the window */                                    \
  X(kClass, "class") X(kEntries, "entries")                                          \
  X(kByStartedThreads, "by_started_threads") X(kByOlderThreads, "by_older_threads")            \
  X(kCalls, "calls")                                                                 \
  X(kRestarts, "restarts") X(kInFlight, "in_flight") X(kNoReturn, "no_return")       \
  X(kCarriedIn, "carried_in") X(kDenied, "denied") X(kErrors, "errors")              \
  X(kErrnos, "errnos") X(kInjected, "injected")                                      \
  X(kPerRunCalls, "per_run_calls")                                                   \
  X(kPerRunErrors, "per_run_errors") X(kPerRunErrnos, "per_run_errnos")              \
  X(kBytes, "bytes") X(kBytesReleased, "bytes_released")                             \
  X(kShortCalls, "short_calls") X(kPerRunBytes, "per_run_bytes")                     \
  X(kKernelFiles, "kernel_files") X(kSyncOpens, "sync_opens")                        \
  X(kLatencyCount, "latency_count")                                                  \
  X(kLatencySumNs, "latency_sum_ns") X(kLatencyMinNs, "latency_min_ns")              \
  X(kLatencyMaxNs, "latency_max_ns") X(kP50Ns, "p50_ns") X(kP75Ns, "p75_ns")         \
  X(kP90Ns, "p90_ns") X(kP95Ns, "p95_ns") X(kP99Ns, "p99_ns")                        \
  X(kHistogram, "histogram") X(kEnd, "end")
// clang-format on

/// Position of a column in a row, from 0.
enum class Column : std::size_t {
#define SYSCOST_COLUMN_ENUM(id, name) id,
  SYSCOST_CSV_COLUMNS(SYSCOST_COLUMN_ENUM)
#undef SYSCOST_COLUMN_ENUM
};

/// Column names in file order: the header line of every file.
inline constexpr std::array kColumnNames = {
#define SYSCOST_COLUMN_NAME(id, name) std::string_view(name),
    SYSCOST_CSV_COLUMNS(SYSCOST_COLUMN_NAME)
#undef SYSCOST_COLUMN_NAME
};

inline constexpr std::size_t kColumnCount = kColumnNames.size();

/// Values of column `kind`: what the window was opened for.
inline constexpr std::array<std::string_view, 10> kKinds = {
    "test", "suite", "environment", "between", "loop", "scope", "benchmark", "process", "interval", "gpu_kernel"};

/// Values of column `outcome` of a test, and of the end of a program's tests; it may be empty, too.
inline constexpr std::array<std::string_view, 3> kOutcomes = {"passed", "failed", "skipped"};
constexpr bool is_outcome(std::string_view word) {
  return word == kOutcomes[0] || word == kOutcomes[1] || word == kOutcomes[2];
}

/// Kind of what a process of tests did while no test, set-up or tear-down ran.
inline constexpr std::string_view kKindBetween = "between";

/// Kind of a piece of the time of a command that was measured as a whole.
inline constexpr std::string_view kKindInterval = "interval";

/// Kind of a figure of a GPU's kernels or copies.
inline constexpr std::string_view kKindGpuKernel = "gpu_kernel";

/// Values of column `record`.
inline constexpr std::string_view kRecordTest = "test";
inline constexpr std::string_view kRecordSyscall = "syscall";
inline constexpr std::string_view kRecordRun = "run";

/// Column `kind` of a row of record `run`, which belongs to no window.
inline constexpr std::string_view kKindRun = "run";
/// Column `window` of such a row: a program begins its tests, and comes to their end. Empty: neither is known.
inline constexpr std::string_view kRunBegins = "begin";
inline constexpr std::string_view kRunEnds = "end";
/// How a program's process ended, which `bench run` writes if its tests do not explain it. In `outcome` stands the
/// signal (`SIGABRT`), or `exit code 7`.
inline constexpr std::string_view kRunExit = "exit";
inline constexpr std::string_view kExitCode = "exit code ";
/// A fact in its `detail`: when the process started, in clock ticks since the machine did. An exec does not change it.
inline constexpr std::string_view kFactProcessStart = "process_start";
/// Another one: the program's file with its folders. It tells programs of one file name apart.
inline constexpr std::string_view kFactProgramPath = "program_path";
/// Another one: the `bench run` commands above the process, as `number-start+number-start`.
inline constexpr std::string_view kFactBenchRun = "bench_run";

/// Values of column `origin`: who counted.
inline constexpr std::string_view kOriginSyscost = "syscost";
inline constexpr std::string_view kOriginBpftrace = "bpftrace";

// clang-format off
/// Classes of syscalls: an identifier and the word of column `class`. A selector has "%" before the word.
/// tools/gen_syscall_table.py holds the members of each class, and says where they come from.
#define SYSCOST_SYSCALL_CLASSES(X)                                                 \
  X(file, "file")          /* takes a file name */                                 \
  X(desc, "desc")          /* takes or returns a file descriptor */                \
  X(network, "network")    /* sockets */                                           \
  X(memory, "memory")      /* memory mappings */                                   \
  X(process, "process")    /* life and death of processes */                       \
  X(signal, "signal")      /* signals */                                           \
  X(wait, "wait")          /* blocks by design: its time is never work */          \
  X(volatile_, "volatile") /* its count varies between runs of the same code */
// clang-format on

/// Words of column `class`, in the order in which they stand there.
inline constexpr std::array kClassWords = {
#define SYSCOST_CLASS_WORD(id, word) std::string_view(word),
    SYSCOST_SYSCALL_CLASSES(SYSCOST_CLASS_WORD)
#undef SYSCOST_CLASS_WORD
};

}  // namespace syscost::schema
