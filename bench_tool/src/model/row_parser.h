// SPDX-License-Identifier: MIT
//
// RowParser: from the cells of a row to numbers and name ids, checking what the schema promises.
//
// A cell that cannot be what its column says is never read as 0: the row is refused with the column's name and text.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "csv/reader.h"
#include "model/dataset.h"
#include "syscost/schema.h"

namespace syscost::bench::model {

/// Each parse function returns what is wrong with the row, or "".
class RowParser {
 public:
  /// Interns into `data` and adds its contexts; `data` must outlive the parser.
  explicit RowParser(Dataset& data) : data_(data) {}

  void begin_file(std::uint32_t file) {
    file_ = file;
    last_context_ = kNoContext;
    last_key_.clear();
  }
  /// Fills the key members of `key`.
  std::string parse_key(const csv::Row& row, Sample& key, bool& is_test_row);
  /// Of a row of record `run`.
  std::string parse_run(const csv::Row& row, RunFacts& run);
  /// True when the row's key is the one that parse_key() read last. A window's rows follow each other and repeat two
  /// thirds of their columns, so that one comparison of bytes saves reading them again.
  bool repeats_key(const csv::Row& row) const;
  std::string parse_record(const csv::Row& row, bool& is_test_row) const;
  std::string parse_totals(const csv::Row& row, Totals& totals);
  std::string parse_syscall(const csv::Row& row, bool keeps_histogram, SyscallRow& parsed);

 private:
  NameId name(const csv::Row& row, schema::Column column);
  std::uint32_t context_of(const csv::Row& row);

  void keep_key(const csv::Row& row);

  /// Columns before `record`: all of the key but the origin.
  static constexpr auto kKeyColumns = static_cast<std::size_t>(schema::Column::kRecord);
  static constexpr std::uint32_t kNoContext = 0xFFFFFFFF;
  Dataset& data_;
  std::uint32_t file_ = 0;
  std::uint32_t last_context_ = kNoContext;
  std::array<NameId, schema::kColumnCount> last_name_{};  ///< Per column: most rows repeat the row before.
  std::string last_key_;  ///< The bytes of the key columns, with what ends each; empty = none was read.
  std::string last_origin_;
  std::array<std::ptrdiff_t, kKeyColumns> last_offsets_{};  ///< Where in last_key_ each cell begins: quotes shift them.
};

/// Reads the unsigned decimal number in the cell [begin, NUL), which ends before `bound`; an empty cell is "not
/// measured". False when it is neither.
bool parse_measured(const char* begin, const char* bound, Measured& number);

}  // namespace syscost::bench::model
