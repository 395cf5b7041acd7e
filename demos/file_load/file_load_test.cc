// SPDX-License-Identifier: MIT
//
// An integration test that loads a file, beside a unit test that works in memory.
//
// Tracing the whole test runner from outside mixes both with the loader, the framework and each other. Here each test
// has its own row: the loader's probing of folders (openat that fails with ENOENT), its reads by buffer size, and
// nothing at all for the iterator. README.md walks through it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <numeric>
#include <string>
#include <vector>

#include "table_file.h"

namespace {

constexpr std::size_t kRows = 10'000;

std::vector<demo::Row> some_rows() {
  std::vector<demo::Row> rows(kRows);
  for (std::size_t i = 0; i < kRows; ++i) rows[i] = {static_cast<std::int64_t>(i), static_cast<double>(i) / 8};
  return rows;
}

/// The table file is made once for the suite: its syscalls are the suite's row, not a test's.
class StorageEngine : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Not mkdtemp: now and then it asks the kernel for another random number, and the suite's counts would vary.
    folder_ = testing::TempDir() + "file_load_" + std::to_string(getpid());
    ASSERT_TRUE(mkdir(folder_.c_str(), S_IRWXU) == 0 || errno == EEXIST) << folder_;
    ASSERT_TRUE(demo::write_table(folder_ + "/table.csv", some_rows()));
  }
  static void TearDownTestSuite() {
    unlink((folder_ + "/table.csv").c_str());
    rmdir(folder_.c_str());
  }

  static inline std::string folder_;
};

TEST_F(StorageEngine, LoadsTable) {
  const std::array search_path = {folder_ + "/not-here", folder_ + "/nor-here", folder_};
  std::optional<std::vector<demo::Row>> rows = demo::load_table(search_path, "table.csv");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->size(), kRows);
  EXPECT_EQ(rows->back().id, static_cast<std::int64_t>(kRows) - 1);
}

TEST(BatchIterator, SplitsRowsIntoBatches) {
  static const std::vector<demo::Row> rows = some_rows();
  std::vector<std::span<const demo::Row>> batches = demo::split_into_batches(rows, 3000);
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches.back().size(), 1000U);
  std::size_t total = std::accumulate(batches.begin(), batches.end(), std::size_t{0},
                                      [](std::size_t sum, const auto& batch) { return sum + batch.size(); });
  EXPECT_EQ(total, kRows);
}

}  // namespace
