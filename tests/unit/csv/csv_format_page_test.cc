// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "syscost/schema.h"
#include "temporary_folder.h"

namespace syscost::csv {
namespace {

/// The first cell of each table row of the page that names a column: "| `wall_ns` | ...".
std::vector<std::string> columns_of_page(const std::string& page) {
  std::vector<std::string> columns;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    columns.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return columns;
}

TEST(CsvFormatPage, DefinesEveryColumnInFileOrder) {
  const std::string page = ::syscost::testing::read_file(SYSCOST_CSV_FORMAT_PAGE);
  ASSERT_FALSE(page.empty()) << SYSCOST_CSV_FORMAT_PAGE;
  const std::vector<std::string> expected(schema::kColumnNames.begin(), schema::kColumnNames.end());
  EXPECT_EQ(columns_of_page(page), expected);
}

TEST(CsvFormatPage, NamesTheSchemaVersion) {
  const std::string page = ::syscost::testing::read_file(SYSCOST_CSV_FORMAT_PAGE);
  EXPECT_NE(page.find("Schema version " + std::to_string(schema::kSchemaVersion) + "."), std::string::npos);
}

}  // namespace
}  // namespace syscost::csv
