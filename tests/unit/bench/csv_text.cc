// SPDX-License-Identifier: MIT
#include "csv_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "syscost/schema.h"

namespace syscost::bench::testing {
namespace {

std::string row(Cells values, const Cells& cells) {
  for (const auto& [column, text] : cells) {
    EXPECT_NE(std::find(schema::kColumnNames.begin(), schema::kColumnNames.end(), column), schema::kColumnNames.end())
        << column;
    values[column] = text;
  }
  std::string line;
  for (std::string_view column : schema::kColumnNames) {
    if (!line.empty()) line += ',';
    line += values[std::string(column)];
  }
  return line + '\n';
}

Cells key() {
  return {{"schema_version", std::to_string(schema::kSchemaVersion)},
          {"run_id", "r1"},
          {"started_at", "2026-11-21T01:52:31.123456Z"},
          {"backend", "ebpf"},
          {"program", "tests"},
          {"pid", "7"},
          {"kind", "test"},
          {"test", "Suite.Test"},
          {"repetition", "0"},
          {"origin", "syscost"},
          {"end", "end"}};
}

}  // namespace

std::string header() {
  std::string line;
  for (std::string_view column : schema::kColumnNames) {
    if (!line.empty()) line += ',';
    line += column;
  }
  return line + '\n';
}

std::string test_row(const Cells& cells) {
  Cells values = key();
  values.insert({{"record", "test"}, {"outcome", "passed"}, {"wall_ns", "1000"}, {"lost", "0"}});
  return row(values, cells);
}

std::string run_row(const Cells& cells) {
  Cells values = key();
  values.insert_or_assign("kind", "run");
  values.insert_or_assign("test", "");
  values.insert({{"record", "run"}});
  return row(values, cells);
}

std::string syscall_row(const Cells& cells) {
  Cells values = key();
  values.insert({{"record", "syscall"}, {"syscall", "write"}, {"class", "desc"}, {"calls", "1"}, {"errors", "0"}});
  return row(values, cells);
}

std::string window_rows(const std::vector<std::tuple<std::string, std::string, int>>& rows) {
  int total = 0;
  std::string text;
  for (const auto& [syscall, detail, calls] : rows) {
    total += calls;
    text += syscall_row({{"syscall", syscall}, {"detail", detail}, {"calls", std::to_string(calls)}});
  }
  return test_row({{"total_calls", std::to_string(total)}}) + text;
}

}  // namespace syscost::bench::testing
