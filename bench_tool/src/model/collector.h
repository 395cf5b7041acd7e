// SPDX-License-Identifier: MIT
//
// The collector: puts rows together to windows and decides which of them count.
//
// Large files are read in parts, each on a thread with a Collector of its own; absorb() then puts the parts together as
// if one had read them all.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "csv/problems.h"
#include "csv/reader.h"
#include "model/dataset.h"
#include "model/duplicates.h"
#include "model/id_index.h"
#include "model/loader.h"
#include "model/row_parser.h"

namespace syscost::bench::model {

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

  /// Rows taken from now on are `file`'s. With `only_run` not empty, those of its other runs are left out.
  void begin_file(const std::string& file, const std::string& only_run = {});
  /// Windows that LoadOptions::test_part cannot mean are left out, if it is not empty.
  void leave_out_others() { leaves_out_others_ = true; }
  /// Takes a row; returns what is wrong with it, or "".
  std::string take(const csv::Row& row, csv::Skip& skip);
  /// Takes a repetition of a file that holds one process's.
  void take_plain(const PlainRepetition& one);
  /// Takes over what `part` collected from the current file after its first `lines_before` lines.
  void absorb(Collector& part, std::uint64_t lines_before);
  /// Returns the rows collected so far, which are not in order yet. It also has the contexts of the runs that are left
  /// out.
  const Dataset& so_far() const { return data_; }
  /// Keeps the requested runs, each row once, and returns the result. Call it once.
  Dataset finish(const std::string& name);

 private:
  std::uint32_t sample_of(const Sample& wanted);
  std::uint64_t hash_of(const Sample& key) const;
  bool is_same_window(const Sample& a, const Sample& b) const;
  std::string take_totals(const csv::Row& row);
  std::string take_call(const csv::Row& row);
  void begin_window(const Sample& key);
  bool is_left_out(const Sample& key);
  void select_runs();

  Dataset data_;
  const LoadOptions& options_;
  csv::Problems& problems_;
  RowParser parser_{data_};
  IdIndex samples_;
  std::string only_run_;
  bool leaves_out_others_ = false;
  Duplicates duplicates_;
  std::unordered_set<NameId> left_out_tests_;
  // The sample of the last row. The next row has it too if its key is the same. kNoSample: its rows are left out.
  std::uint32_t row_sample_ = RowStore::kNoSample;
  csv::Skip skip_ = csv::Skip::nothing;
  bool keeps_histogram_ = false;
};

}  // namespace syscost::bench::model
