// SPDX-License-Identifier: MIT
//
// Many rows at once: none is lost between reader, model and summary.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "make_rows.h"
#include "model/group.h"
#include "model/loader.h"
#include "stats/window_summary.h"

namespace syscost::bench {
namespace {

TEST(Volume, EveryGeneratedRowIsCounted) {
  perf::MakeRows shape;
  shape.syscall_rows = 20'000;
  std::ostringstream text;
  const std::uint64_t rows = perf::make_rows(shape, text);
  csv::Problems problems;
  model::Dataset data = model::load_text("rows.csv", text.str(), {}, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(data.rows.size() + data.samples.size(), rows);
  const auto groups = model::group_samples(data);
  EXPECT_EQ(groups.size(), 100U);
  EXPECT_EQ(stats::summarize(data, groups.front(), false).n, shape.repetitions);
}

TEST(Volume, SummariesMadeByThreadsAreThoseMadeOneByOne) {
  perf::MakeRows shape;
  shape.syscall_rows = 40'000;  // 200 tests: work for three threads, where there are so many cores
  std::ostringstream text;
  perf::make_rows(shape, text);
  csv::Problems problems;
  model::Dataset data = model::load_text("rows.csv", text.str(), {}, problems);
  const auto groups = model::group_samples(data);
  const auto windows = stats::summarize_all(data, groups, false);
  ASSERT_EQ(windows.size(), groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const stats::WindowSummary one = stats::summarize(data, groups[i], false);
    ASSERT_EQ(windows[i].name, one.name);
    ASSERT_EQ(windows[i].calls->median, one.calls->median);
    ASSERT_EQ(windows[i].syscalls.size(), one.syscalls.size());
    ASSERT_EQ(windows[i].syscalls[0].kernel_ns->median, one.syscalls[0].kernel_ns->median);
  }
}

TEST(Volume, LinesOfALaterPartAreNumberedInTheFile) {
  perf::MakeRows shape;
  shape.syscall_rows = 80'000;
  const std::string path = ::testing::TempDir() + "syscost_part_lines.csv";
  std::ostringstream text;
  perf::make_rows(shape, text);
  const std::string content = text.str();
  // The last window again, its `test` row and 20 `syscall` rows: keys that occur twice within the last part.
  std::size_t last_window = content.size() - 1;
  for (std::uint64_t row = 0; row <= shape.syscalls_per_test; ++row) last_window = content.rfind('\n', last_window - 1);
  std::ofstream(path, std::ios::binary) << content << content.substr(last_window + 1);
  csv::Problems problems;
  model::load(path, {}, problems);
  std::filesystem::remove(path);
  EXPECT_EQ(problems.count(), shape.syscalls_per_test + 1);
  std::ostringstream said;
  problems.print(said);
  const auto lines = static_cast<std::uint64_t>(std::count(content.begin(), content.end(), '\n'));
  std::string wanted;
  for (std::uint64_t line = lines - shape.syscalls_per_test; line < lines; ++line) {
    wanted += path + ":" + std::to_string(line + 1 + shape.syscalls_per_test) + ": the same key as " + path + ":" +
              std::to_string(line) + "; left out, it would count twice\n";
  }
  EXPECT_EQ(said.str().rfind(wanted, 0), 0U) << said.str();
}

TEST(Volume, AFileReadInPartsIsTheFileReadAtOnce) {
  perf::MakeRows shape;
  shape.syscall_rows = 80'000;  // about 37 MiB: two parts at least, where there are two cores
  const std::string path = ::testing::TempDir() + "syscost_parts.csv";
  std::ostringstream text;
  perf::make_rows(shape, text);
  const std::string content = text.str();
  std::ofstream(path, std::ios::binary) << content << "junk\n";
  csv::Problems problems;
  const model::Dataset parts = model::load(path, {}, problems);
  std::ostringstream said;
  problems.print(said);
  const auto lines = std::count(content.begin(), content.end(), '\n');
  EXPECT_EQ(said.str().rfind(path + ":" + std::to_string(lines + 1) + ": ", 0), 0U) << said.str();
  csv::Problems ignored;
  const model::Dataset whole = model::load_text("whole", content, {}, ignored);
  ASSERT_EQ(parts.rows.size(), whole.rows.size());
  ASSERT_EQ(parts.samples.size(), whole.samples.size());
  for (std::size_t i = 0; i < parts.rows.size(); ++i) {
    ASSERT_EQ(parts.rows[i].line, whole.rows[i].line);
    ASSERT_EQ(parts.text(parts.rows[i].syscall), whole.text(whole.rows[i].syscall));
    ASSERT_EQ(*parts.rows[i].latency_sum_ns, *whole.rows[i].latency_sum_ns);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace syscost::bench
