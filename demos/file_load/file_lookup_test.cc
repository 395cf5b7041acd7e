// SPDX-License-Identifier: MIT
//
// Forty lookups in a table, written twice: once with a search and a read of the file for each lookup, once with one for
// all. `bench findings` says what is wrong with the first one. README.md walks through it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table_file.h"

namespace {

constexpr std::int64_t kRows = 500;
constexpr std::int64_t kLookups = 40;

class Lookup : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(mkdir(folder_.c_str(), S_IRWXU) == 0 || errno == EEXIST) << folder_;
    std::vector<demo::Row> rows;
    for (std::int64_t i = 0; i < kRows; ++i) rows.push_back({i, static_cast<double>(i) / 8});
    ASSERT_TRUE(demo::write_table(folder_ + "/table.csv", rows));
  }
  static void TearDownTestSuite() {
    unlink((folder_ + "/table.csv").c_str());
    rmdir(folder_.c_str());
  }

  static std::optional<std::vector<demo::Row>> load() {
    const std::array search_path = {folder_ + "/not-here", folder_ + "/nor-here", folder_};
    return demo::load_table(search_path, "table.csv");
  }

  static inline const std::string folder_ = "lookup_data";  // in the working directory
};

TEST_F(Lookup, LoadsTheTableForEachRow) {
  for (std::int64_t id = 0; id < kLookups; ++id) {
    const std::optional<std::vector<demo::Row>> rows = load();
    ASSERT_TRUE(rows.has_value());
    EXPECT_EQ(rows->at(static_cast<std::size_t>(id)).id, id);
  }
}

TEST_F(Lookup, LoadsTheTableOnce) {
  const std::optional<std::vector<demo::Row>> rows = load();
  ASSERT_TRUE(rows.has_value());
  for (std::int64_t id = 0; id < kLookups; ++id) EXPECT_EQ(rows->at(static_cast<std::size_t>(id)).id, id);
}

}  // namespace
