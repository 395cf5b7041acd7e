// SPDX-License-Identifier: MIT
#include "render/csv_writer.h"

#include "render/units.h"

namespace syscost::bench::render {

CsvWriter::CsvWriter(const std::vector<std::string_view>& columns) {
  for (std::string_view column : columns) cell(column);
  end_row();
}

void CsvWriter::separate() {
  if (!is_first_) out_ += ',';
  is_first_ = false;
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out_ += text;
    return *this;
  }
  out_ += '"';
  for (char c : text) {
    if (c == '"') out_ += '"';
    out_ += c;
  }
  out_ += '"';
  return *this;
}

CsvWriter& CsvWriter::number(double value) {
  separate();
  out_ += plain(value);
  return *this;
}

CsvWriter& CsvWriter::number(std::optional<double> value) {
  if (value) return number(*value);
  separate();
  return *this;
}

void CsvWriter::end_row() {
  out_ += '\n';
  is_first_ = true;
}

std::optional<double> median(const stats::Numbers& numbers) {
  return numbers ? std::optional(numbers->median) : std::nullopt;
}

}  // namespace syscost::bench::render
