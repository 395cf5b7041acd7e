// SPDX-License-Identifier: MIT
//
// Row: one line of a syscost CSV, written column by column.
//
// Line-based tools (tail, grep, bench's torn-row check) can read a row only if no field holds a line break, and pandas
// only if it is valid UTF-8. Names and labels come from the user, so this file escapes them.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include "syscost/schema.h"

namespace syscost::csv {

/// `text` on one line of valid UTF-8: line breaks, NULs and bytes that are no UTF-8 become `\n`, `\r`, `\0`, `\xHH`.
std::string visible(std::string_view text);

/// Appends the text of one field: visible(), and by RFC 4180 quoted when it holds a comma or a quote, quotes doubled.
void append_field(std::pmr::string& out, std::string_view text);

/// The header line, with its line break.
const std::string& header_line();

/// Takes fields in file order; skipped columns stay empty.
class Row {
 public:
  /// Writes to the end of `out`, which must outlive the row.
  explicit Row(std::pmr::string& out) : out_(out) {}
  /// Begins with `first_fields`, the text of the columns before `next`.
  Row(std::pmr::string& out, std::string_view first_fields, schema::Column next)
      : out_(out), next_(static_cast<std::size_t>(next)) {
    out_ += first_fields;
  }

  /// Columns must come in the order of schema.h.
  void set(schema::Column column, std::string_view text);
  void set(schema::Column column, std::uint64_t number);
  /// Empty if there is no number: never 0.
  void set(schema::Column column, std::optional<std::uint64_t> number) {
    if (number.has_value()) set(column, *number);
  }
  /// Writes the end mark and the line break.
  void end();

 private:
  void advance_to(schema::Column column);

  std::pmr::string& out_;
  std::size_t next_ = 0;  // column that the next field belongs to
};

}  // namespace syscost::csv
