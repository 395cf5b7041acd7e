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
  }
  /// Fills the key members of `key`.
  std::string parse_key(const csv::Row& row, Sample& key, bool& is_test_row);
  std::string parse_totals(const csv::Row& row, Totals& totals);
  std::string parse_syscall(const csv::Row& row, bool keeps_histogram, SyscallRow& parsed);

 private:
  NameId name(const csv::Row& row, schema::Column column);
  std::uint32_t context_of(const csv::Row& row);

  static constexpr std::uint32_t kNoContext = 0xFFFFFFFF;
  Dataset& data_;
  std::uint32_t file_ = 0;
  std::uint32_t last_context_ = kNoContext;
  std::array<NameId, schema::kColumnCount> last_name_{};  ///< Per column: most rows repeat the row before.
};

/// Reads an unsigned decimal number; an empty cell is "not measured". False when it is neither.
bool parse_measured(std::string_view cell, Measured& number);

}  // namespace syscost::bench::model
