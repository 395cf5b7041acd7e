// SPDX-License-Identifier: MIT
//
// The collector: puts rows together to windows and decides which of them count. A row that comes twice counts once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "csv/reader.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "model/row_parser.h"
#include "model/row_store.h"
#include "model/silent_windows.h"

namespace syscost::bench::model {

/// Rows with the key of a row that was read before. The first counts; the others would count twice.
///
/// They are reported at the end: parts of a file do not know their lines' numbers in it, and a row of a run that is not
/// asked for matters to no one.
class Duplicates {
 public:
  struct Place {
    std::uint32_t file, line;
  };

  /// A row of `sample` with the key of the row at `first`.
  void add(const Dataset& data, std::uint32_t sample, Place place, Place first);
  /// Leaves those of samples that have a new number in `moved`, and of the runs that `is_left` is true for.
  template <class IsLeft>
  void keep(const std::vector<std::uint32_t>& moved, IsLeft is_left) {
    std::erase_if(named_, [&](const Duplicate& one) { return moved[one.sample] == RowStore::kNoSample; });
    std::erase_if(more_, [&](const auto& one) { return !is_left(one.first.first, one.first.second); });
  }
  /// Takes rows with the key of an earlier one out of `data`, if others stood between them, and adds them here.
  void drop_scattered(Dataset& data);
  /// In the order of the files and their lines.
  void report(const Dataset& data, csv::Problems& problems);

 private:
  // Many more than are named; of the rest the number is kept, so that a file of them does not fill the memory.
  static constexpr std::size_t kMostNamed = 1000;
  struct Duplicate {
    std::uint32_t sample;
    Place place, first;
  };

  std::vector<Duplicate> named_;
  std::map<std::pair<std::uint32_t, NameId>, std::size_t> more_;  ///< By file and run.
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

  /// Rows taken from now on are `file`'s. With `only_run` not empty, those of its other runs are left out.
  void begin_file(const std::string& file, const std::string& only_run = {});
  /// Windows that LoadOptions::test_part cannot mean are left out, if it is not empty.
  void leave_out_others() { leaves_out_others_ = true; }
  /// Takes a row; returns what is wrong with it, or "".
  std::string take(const csv::Row& row);
  /// Takes a repetition of a file that holds one process's.
  void take_plain(const PlainRepetition& one);
  /// The rows collected so far, which are not in order yet, with the contexts of the runs that are left out.
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
  void note_suite(const csv::Row& row);
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
  SuitesThatRan suites_;
  std::unordered_set<NameId> left_out_tests_;
  Sample key_;  ///< Of the last row of a window.
  // The sample of the last row. The next row has it too if its key is the same. kNoSample: its rows are left out.
  std::uint32_t row_sample_ = RowStore::kNoSample;
  bool keeps_histogram_ = false;
};

}  // namespace syscost::bench::model
