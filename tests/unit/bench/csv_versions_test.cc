// SPDX-License-Identifier: MIT
//
// Files that other versions of syscost wrote.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "csv/reader.h"
#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench {
namespace {

using csv::Problems;
using csv::Row;
using schema::Column;
using testing::Cells;
using testing::header;
using testing::load;
using testing::Loaded;
using testing::syscall_row;
using testing::test_row;
using testing::without_cpu_ns;

/// The part of each row around the column that older files lack.
std::string around_cpu_ns(const std::string& text, int version = csv::kVersionInFirstLine) {
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
      problems, version);
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
  EXPECT_EQ(around_cpu_ns(without_cpu_ns(rows), schema::kCpuNsSince - 1), expected);
  const std::string now = test_row({{"system_ns", "7"}, {"cpu_ns", "8"}, {"overhead_estimate_ns", "9"}});
  EXPECT_EQ(around_cpu_ns(now, schema::kSchemaVersion), "7 8 9 end test\n");
}

TEST(CsvVersions, ReadsFilesOfVersionsWithoutMeasures) {
  const std::string rows = test_row({{"schema_version", "6"}, {"cpu_ns", "8"}, {"total_calls", "3"}}) +
                           syscall_row({{"schema_version", "6"}, {"calls", "3"}, {"latency_count", "2"}});
  const Loaded loaded =
      load(testing::as_before(schema::kMeasuresSince, rows), {}, testing::as_before(schema::kMeasuresSince, header()));
  EXPECT_EQ(loaded.problems, "");
  ASSERT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_EQ(loaded.data.samples[0].totals.calls.value_or(0), 3U);
  EXPECT_FALSE(loaded.data.samples[0].totals.bytes_read.has_value());
  const std::vector<model::SyscallRow> calls = loaded.data.rows_of(0);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].latency_count.value_or(0), 2U);
  EXPECT_FALSE(calls[0].bytes.has_value());
}

TEST(CsvVersions, ReadsMeasures) {
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
  EXPECT_EQ(loaded.data.text(totals.left_open), "5 file /x");
  const std::vector<model::SyscallRow> calls = loaded.data.rows_of(0);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].bytes.value_or(0), 70000U);
  EXPECT_FALSE(calls[0].bytes_released.has_value());
  EXPECT_EQ(calls[0].short_calls.value_or(0), 2U);
  EXPECT_EQ(calls[0].per_run_bytes.value_or(9), 0U);
}

TEST(CsvVersions, ReadsFilesOfVersionsWithoutInjected) {
  const std::string rows =
      test_row({{"schema_version", "7"}, {"total_calls", "3"}}) +
      syscall_row({{"schema_version", "7"}, {"calls", "3"}, {"per_run_calls", "1"}, {"bytes", "5"}});
  const Loaded loaded =
      load(testing::as_before(schema::kInjectedSince, rows), {}, testing::as_before(schema::kInjectedSince, header()));
  EXPECT_EQ(loaded.problems, "");
  const std::vector<model::SyscallRow> calls = loaded.data.rows_of(0);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_FALSE(calls[0].injected.has_value());
  EXPECT_EQ(calls[0].per_run_calls.value_or(0), 1U);
  EXPECT_EQ(calls[0].bytes.value_or(0), 5U);
}

TEST(CsvVersions, ReadsFilesOfVersionsWithoutPeakMappedBytes) {
  const std::string rows =
      test_row({{"schema_version", "8"}, {"mapped_bytes_left", "4096"}, {"left_open", "5 file /x"}});
  const Loaded loaded = load(testing::as_before(schema::kPeakMappedSince, rows), {},
                             testing::as_before(schema::kPeakMappedSince, header()));
  EXPECT_EQ(loaded.problems, "");
  const model::Totals& totals = loaded.data.samples.at(0).totals;
  EXPECT_EQ(totals.mapped_bytes_left.value_or(0), 4096U);
  EXPECT_FALSE(totals.peak_mapped_bytes.has_value());
  EXPECT_EQ(loaded.data.text(totals.left_open), "5 file /x");
}

TEST(CsvVersions, ReadsFilesOfVersionsWithoutMakers) {
  const std::string rows =
      test_row({{"schema_version", "9"}}) +
      syscall_row({{"schema_version", "9"}, {"entries", "4"}, {"calls", "4"}, {"restarts", "0"}, {"injected", "1"}});
  const Loaded loaded =
      load(testing::as_before(schema::kThreadsSince, rows), {}, testing::as_before(schema::kThreadsSince, header()));
  EXPECT_EQ(loaded.problems, "");
  const model::SyscallRow row = loaded.data.rows_of(0).at(0);
  EXPECT_EQ(row.entries.value_or(0), 4U);
  EXPECT_EQ(row.injected.value_or(0), 1U);
  EXPECT_FALSE(row.by_started_threads.has_value());
}

TEST(CsvVersions, ReadsMakers) {
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

TEST(CsvVersions, ReadsInjected) {
  const Loaded loaded = load(test_row({{"total_calls", "9"}}) + syscall_row({{"calls", "9"}, {"injected", "2"}}));
  EXPECT_EQ(loaded.problems, "");
  EXPECT_EQ(loaded.data.rows_of(0).at(0).injected.value_or(0), 2U);
  const Loaded wrong = load(test_row({{"total_calls", "1"}}) + syscall_row({{"calls", "1"}, {"injected", "2"}}));
  EXPECT_NE(wrong.problems.find("injected (2) is more than the calls it is a part of"), std::string::npos)
      << wrong.problems;
}

std::string with_names_before(std::string header) {
  for (const auto& [column, before] : schema::kNamesBefore) {
    const std::string now = "," + std::string(schema::kColumnNames[static_cast<std::size_t>(column)]) + ",";
    header.replace(header.find(now), now.size(), "," + std::string(before) + ",");
  }
  return header;
}

TEST(CsvVersions, ReadsFilesOfVersionsWithOtherNames) {
  const Cells of_before = {{"schema_version", "5"}, {"kind", "kernel"}, {"kernel_release", "6.1.0"}, {"window", "add"}};
  const std::string rows = test_row(of_before) + syscall_row({{"schema_version", "5"},
                                                              {"test", "Other.Test"},
                                                              {"calls", "3"},
                                                              {"errors", "2"},
                                                              {"errnos", "ENOENT:2"},
                                                              {"per_run_calls", "2"},
                                                              {"per_run_errors", "1"},
                                                              {"per_run_errnos", "ENOENT:1"}});
  const Loaded loaded = load(rows, {}, with_names_before(header()));
  EXPECT_EQ(loaded.problems, "");
  ASSERT_EQ(loaded.data.contexts.size(), 2U);
  EXPECT_EQ(loaded.data.text(loaded.data.contexts[0].kernel_release), "6.1.0");
  EXPECT_EQ(loaded.data.text(loaded.data.samples[0].kind), "gpu_kernel");
  EXPECT_EQ(loaded.data.text(loaded.data.samples[1].kind), "test");
}

TEST(CsvVersions, RefusesNamesOfTwoVersionsInOneFile) {
  const std::string text = with_names_before(header());
  const std::size_t at = text.find("fixed_calls");
  const std::string mixed = text.substr(0, at) + header().substr(header().find("per_run_calls"));
  EXPECT_NE(around_cpu_ns(mixed + test_row({})).find("is \"per_run_calls\" where \"fixed_calls\" belongs"),
            std::string::npos);
  const Loaded newer = load(test_row({{"kind", "kernel"}}));
  EXPECT_NE(newer.problems.find("column kind holds \"kernel\""), std::string::npos) << newer.problems;
}

TEST(CsvVersions, SaysThatRowsOfAnotherVersionWereJoinedToAFile) {
  const std::string advice = "files joined? Give bench a folder that holds them instead\n";
  const std::string now = header() + test_row({});
  const std::string before = without_cpu_ns(header() + test_row({{"schema_version", "4"}}));
  EXPECT_EQ(around_cpu_ns(before + now), "   end test\nf.csv:3: a second header: " + advice +
                                             "f.csv:4: a row of schema version 10 in a file of another one: " + advice);
  EXPECT_EQ(around_cpu_ns(now + before), "   end test\nf.csv:3: a second header: " + advice +
                                             "f.csv:4: a row of schema version 4 in a file of another one: " + advice);
  const std::string two_in_one = test_row({{"schema_version", "4"}});
  EXPECT_NE(around_cpu_ns(before + "4," + two_in_one).find("more than 64 columns"), std::string::npos);
}

}  // namespace
}  // namespace syscost::bench
