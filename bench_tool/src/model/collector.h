// SPDX-License-Identifier: MIT
//
// The collector: puts rows together to windows and decides which of them count.
//
// Large files are read in parts, each on a thread with a Collector of its own; absorb() then puts the parts together as
// if one had read them all.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "csv/problems.h"
#include "csv/reader.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "model/row_parser.h"

namespace syscost::bench::model {

/// What makes two rows rows of the same window.
struct SampleKey {
  NameId run_id, kind, test, window, parent, origin;
  std::uint32_t repetition;
  std::uint64_t pid;

  bool operator==(const SampleKey&) const = default;
};

struct SampleKeyHash {
  std::size_t operator()(const SampleKey& key) const;
};

/// One repetition of a file that is not a CSV of ours: a benchmark's time, and nothing about syscalls.
struct PlainRepetition {
  std::string started_at, host, program, test;
  std::string_view outcome;
  std::uint32_t repetition = 0;
  Measured iterations;
  Measured wall_ns;
  Measured cpu_ns;
};

/// Not thread-safe. `options` and `problems` must outlive it.
class Collector {
 public:
  Collector(const LoadOptions& options, csv::Problems& problems) : options_(options), problems_(problems) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Rows taken from now on are `file`'s.
  void begin_file(const std::string& file);
  /// Makes room for so many rows, so that they need not move while they become more.
  void expect_rows(std::uint64_t rows) { data_.rows.reserve(data_.rows.size() + rows); }
  /// Takes a row; returns what is wrong with it, or "".
  std::string take(const csv::Row& row);
  /// Takes a repetition of a file that holds one process's.
  void take_plain(const PlainRepetition& one);
  /// Takes over what `part` collected of the current file behind its first `lines_before` lines.
  void absorb(Collector& part, std::uint64_t lines_before);
  /// Leaves the runs that were asked for, each row once, and hands out the result.
  Dataset finish(const std::string& name);

 private:
  /// A row whose key another one had before. Said at the end: parts do not know their lines' numbers in the file.
  struct Duplicate {
    std::uint32_t file, line;
    std::uint32_t first_file, first_line;
  };

  std::uint32_t sample_of(const Sample& wanted);
  bool is_chosen(const Sample& key);
  bool keeps_histogram_of(const Sample& key);
  void select_runs();
  std::vector<const Context*> runs() const;
  NameId asked_run();
  void report_unknown_run();
  void drop_duplicates();
  void report_duplicates();

  Dataset data_;
  const LoadOptions& options_;
  csv::Problems& problems_;
  RowParser parser_{data_};
  std::unordered_map<SampleKey, std::uint32_t, SampleKeyHash> samples_;
  SampleKey last_key_{};
  std::uint32_t last_sample_ = 0;
  std::vector<Duplicate> duplicates_;
  std::unordered_set<NameId> left_out_tests_;
  // Of the row that was taken last, for the next one if it has the same key; kNoSample: its rows are left out.
  std::uint32_t row_sample_ = 0;
  bool keeps_histogram_ = false;
};

}  // namespace syscost::bench::model
