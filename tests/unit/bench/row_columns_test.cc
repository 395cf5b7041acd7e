// SPDX-License-Identifier: MIT
//
// The columns of a row, as bench reads them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench {
namespace {

using testing::load;
using testing::Loaded;
using testing::syscall_row;
using testing::test_row;

TEST(RowColumns, HoldMeasuresOfWindowsAndSyscalls) {
  const Loaded loaded = load(
      test_row({{"total_bytes_read", "70000"},
                {"total_bytes_written", "5"},
                {"total_bytes_mapped", "8192"},
                {"total_bytes_unmapped", "4096"},
                {"descriptors_left", "1"},
                {"mapped_bytes_left", "4096"},
                {"peak_mapped_bytes", "12288"},
                {"left_open", "5 file /x"},
                {"total_calls", "9"}}) +
      syscall_row(
          {{"syscall", "read"}, {"calls", "9"}, {"bytes", "70000"}, {"short_calls", "2"}, {"per_run_bytes", "0"}}));
  EXPECT_EQ(loaded.problems, "");
  const model::Totals& totals = loaded.data.samples.at(0).totals;
  EXPECT_EQ(totals.bytes_read.value_or(0), 70000U);
  EXPECT_EQ(totals.bytes_written.value_or(0), 5U);
  EXPECT_EQ(totals.bytes_mapped.value_or(0), 8192U);
  EXPECT_EQ(totals.bytes_unmapped.value_or(0), 4096U);
  EXPECT_EQ(totals.descriptors_left.value_or(0), 1U);
  EXPECT_EQ(totals.mapped_bytes_left.value_or(0), 4096U);
  EXPECT_EQ(totals.peak_mapped_bytes.value_or(0), 12288U);
  EXPECT_EQ(loaded.data.text(totals.unclosed), "5 file /x");
  const std::vector<model::SyscallRow> calls = loaded.data.rows_of(0);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].bytes.value_or(0), 70000U);
  EXPECT_FALSE(calls[0].bytes_released.has_value());
  EXPECT_EQ(calls[0].short_calls.value_or(0), 2U);
  EXPECT_EQ(calls[0].per_run_bytes.value_or(9), 0U);
}

// Another word would be neither green nor red.
TEST(RowColumns, HoldOneOfThreeOutcomes) {
  for (const char* outcome : {"passed", "failed", "skipped", ""}) {
    EXPECT_EQ(load(test_row({{"outcome", outcome}})).problems, "") << outcome;
  }
  for (const char* outcome : {"crashed", "PASSED", "exited"}) {
    EXPECT_NE(load(test_row({{"outcome", outcome}})).problems.find("passed, failed or skipped"), std::string::npos)
        << outcome;
    EXPECT_NE(
        load(test_row() + testing::run_row({{"window", "end"}, {"outcome", outcome}})).problems.find("passed, failed"),
        std::string::npos)
        << outcome;
  }
}

TEST(RowColumns, HoldWhichThreadsMadeTheCalls) {
  const Loaded loaded =
      load(test_row({}) + syscall_row({{"calls", "9"}, {"by_started_threads", "2"}, {"by_older_threads", "7"}}));
  EXPECT_EQ(loaded.problems, "");
  const model::SyscallRow row = loaded.data.rows_of(0).at(0);
  EXPECT_EQ(row.by_started_threads.value_or(0), 2U);
  EXPECT_EQ(row.by_older_threads.value_or(0), 7U);
  const Loaded wrong =
      load(test_row({}) + syscall_row({{"entries", "9"}, {"by_started_threads", "3"}, {"by_older_threads", "7"}}));
  EXPECT_NE(wrong.problems.find("by_started_threads + by_older_threads are more than the calls they are a part of"),
            std::string::npos)
      << wrong.problems;
}

TEST(RowColumns, HoldHowManyOpensSyncOrNameFilesOfTheKernel) {
  for (const auto& [column, field] : {std::pair("kernel_files", &model::SyscallRow::kernel_files),
                                      std::pair("sync_opens", &model::SyscallRow::sync_opens)}) {
    const Loaded loaded = load(test_row({{"total_calls", "3"}}) + syscall_row({{"calls", "3"}, {column, "2"}}));
    EXPECT_EQ(loaded.problems, "");
    EXPECT_EQ((loaded.data.rows_of(0).at(0).*field).value_or(0), 2U);
  }
}

TEST(RowColumns, HoldHowManyCallsAreInjected) {
  const Loaded loaded = load(test_row({{"total_calls", "9"}}) + syscall_row({{"calls", "9"}, {"injected", "2"}}));
  EXPECT_EQ(loaded.problems, "");
  EXPECT_EQ(loaded.data.rows_of(0).at(0).altered.value_or(0), 2U);
  const Loaded wrong = load(test_row({{"total_calls", "1"}}) + syscall_row({{"calls", "1"}, {"injected", "2"}}));
  EXPECT_NE(wrong.problems.find("injected (2) is more than the calls it is a part of"), std::string::npos)
      << wrong.problems;
}

}  // namespace
}  // namespace syscost::bench
