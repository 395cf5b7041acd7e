// SPDX-License-Identifier: MIT
//
// Files that other versions of syscost wrote.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "csv/reader.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

using csv::Problems;
using csv::Row;
using schema::Column;
using testing::header;
using testing::syscall_row;
using testing::test_row;
using testing::without_cpu_ns;

/// Of each row what stands around the column that older files lack.
std::string around_cpu_ns(const std::string& text, csv::Columns columns = csv::Columns::in_first_line) {
  std::string cells;
  Problems problems;
  auto read_bytes = [left = std::string_view(text)](char* buffer, std::size_t size) mutable {
    const std::size_t count = left.copy(buffer, size);
    left.remove_prefix(count);
    return count;
  };
  csv::read_csv(
      "f.csv", read_bytes,
      [&](const Row& row, csv::Skip&) {
        for (const Column column : {Column::kSystemNs, Column::kCpuNs, Column::kOverheadEstimateNs, Column::kEnd}) {
          cells += std::string(row.text(column)) + ' ';
        }
        cells += row.are_empty(Column::kClass, Column::kHistogram) ? "test\n" : "syscall\n";
        return std::string();
      },
      problems, columns);
  std::ostringstream out;
  problems.print(out);
  return cells + out.str();
}

TEST(CsvVersions, ReadsFilesOfVersionsWithoutCpuNs) {
  const std::string rows = test_row({{"schema_version", "4"}, {"system_ns", "7"}, {"overhead_estimate_ns", "9"}}) +
                           syscall_row({{"schema_version", "4"}, {"histogram", "1:1"}});
  const std::string expected = "7  9 end test\n   end syscall\n";
  EXPECT_EQ(around_cpu_ns(header() + rows), expected);
  EXPECT_EQ(around_cpu_ns(without_cpu_ns(header() + rows)), expected);
  // Only the first part of a file has a header.
  EXPECT_EQ(around_cpu_ns(without_cpu_ns(rows), csv::Columns::without_cpu_ns), expected);
  const std::string now = test_row({{"system_ns", "7"}, {"cpu_ns", "8"}, {"overhead_estimate_ns", "9"}});
  EXPECT_EQ(around_cpu_ns(now, csv::Columns::all), "7 8 9 end test\n");
}

TEST(CsvVersions, SaysThatRowsOfAnotherVersionWereJoinedToAFile) {
  const std::string advice = "files joined? Give bench a folder that holds them instead\n";
  const std::string now = header() + test_row({});
  const std::string before = without_cpu_ns(header() + test_row({{"schema_version", "4"}}));
  EXPECT_EQ(around_cpu_ns(before + now), "   end test\nf.csv:3: a second header: " + advice +
                                             "f.csv:4: a row of schema version 5 in a file of another one: " + advice);
  EXPECT_EQ(around_cpu_ns(now + before), "   end test\nf.csv:3: a second header: " + advice +
                                             "f.csv:4: a row of schema version 4 in a file of another one: " + advice);
  const std::string two_in_one = test_row({{"schema_version", "4"}});
  EXPECT_NE(around_cpu_ns(before + "4," + two_in_one).find("more than 64 columns"), std::string::npos);
}

}  // namespace
}  // namespace syscost::bench
