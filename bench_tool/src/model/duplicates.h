// SPDX-License-Identifier: MIT
//
// Duplicates: rows with the key of a row that was read before. The first counts; the others would count twice.
//
// They are said at the end: parts of a file do not know their lines' numbers in it, and a row of a run that is not
// asked for matters to no one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"

namespace syscost::bench::model {

class Duplicates {
 public:
  struct Place {
    std::uint32_t file, line;
  };

  /// A row of `sample` with the key of the row at `first`.
  void add(const Dataset& data, std::uint32_t sample, Place place, Place first);
  /// Takes over those of a part of `file`, before which `lines_before` lines stand; its names and samples have other
  /// numbers now.
  void absorb(const Duplicates& part, const std::vector<NameId>& names, const std::vector<std::uint32_t>& samples,
              std::uint32_t file, std::uint32_t lines_before);
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

}  // namespace syscost::bench::model
