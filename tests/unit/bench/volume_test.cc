// SPDX-License-Identifier: MIT
//
// Many rows at once: none is lost between reader, model and summary.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "bench.h"
#include "csv_text.h"
#include "make_rows.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "stats/summaries.h"
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
  const std::string path = ::testing::TempDir() + "syscost_part_lines." + std::to_string(::getpid()) + ".csv";
  std::ostringstream text;
  perf::make_rows(shape, text);
  const std::string content = text.str();
  // The last window again, its `test` row and 20 `syscall` rows: keys that occur twice.
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

TEST(Volume, ALargeFileHasTheRowsOfItsText) {
  perf::MakeRows shape;
  shape.syscall_rows = 80'000;  // about 37 MiB: more than the reader takes at once
  const std::string path = ::testing::TempDir() + "syscost_large." + std::to_string(::getpid()) + ".csv";
  std::ostringstream text;
  perf::make_rows(shape, text);
  const std::string content = text.str();
  std::ofstream(path, std::ios::binary) << content << "junk\n";
  csv::Problems problems;
  const model::Dataset of_file = model::load(path, {}, problems);
  std::ostringstream said;
  problems.print(said);
  const auto lines = std::count(content.begin(), content.end(), '\n');
  EXPECT_EQ(said.str().rfind(path + ":" + std::to_string(lines + 1) + ": ", 0), 0U) << said.str();
  csv::Problems ignored;
  const model::Dataset whole = model::load_text("whole", content, {}, ignored);
  ASSERT_EQ(of_file.rows.size(), whole.rows.size());
  ASSERT_EQ(of_file.samples.size(), whole.samples.size());
  for (std::uint32_t sample = 0; sample < of_file.samples.size(); ++sample) {
    const std::vector<model::SyscallRow> found = of_file.rows_of(sample);
    const std::vector<model::SyscallRow> wanted = whole.rows_of(sample);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].line, wanted[i].line);
      ASSERT_EQ(of_file.text(found[i].syscall), whole.text(wanted[i].syscall));
      ASSERT_EQ(of_file.text(found[i].errnos), whole.text(wanted[i].errnos));
      ASSERT_EQ(*found[i].latency_sum_ns, *wanted[i].latency_sum_ns);
    }
  }
  std::filesystem::remove(path);
}

/// A file of many runs, each of a few tests, with `change` made to its text.
class HistoryFile : public ::testing::Test {
 protected:
  void SetUp() override {
    perf::MakeRows shape;
    shape.runs = 20;
    shape.repetitions = 2;
    shape.syscall_rows = shape.runs * shape.repetitions * shape.syscalls_per_test * 5;
    std::ostringstream text;
    perf::make_rows(shape, text);
    text_ = text.str();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  model::Dataset load(const model::LoadOptions& options) {
    std::ofstream(path_, std::ios::binary) << text_;
    csv::Problems problems;
    model::Dataset data = model::load(path_, options, problems);
    std::ostringstream said;
    problems.print(said);
    problems_ = said.str();
    return data;
  }
  /// In the first line that holds `in_line`.
  void replace(const std::string& in_line, const std::string& from, const std::string& to) {
    const std::size_t line = text_.find(in_line);
    ASSERT_NE(line, std::string::npos);
    text_.replace(text_.find(from, line), from.size(), to);
  }

  const std::string path_ = ::testing::TempDir() + "syscost_history." + std::to_string(::getpid()) + ".csv";
  std::string text_, problems_;
};

TEST_F(HistoryFile, IsReadForTheRunsThatAreAskedFor) {
  // Run 3 holds a row that says nothing.
  replace("1795000003-4242", ",passed,", ",passed,none");
  model::LoadOptions options;
  EXPECT_EQ(load(options).samples.size(), 10U);
  EXPECT_EQ(problems_, "") << "rows of other runs are not looked into";
  replace("1795000004-4242", ",end\n", "\n");
  EXPECT_EQ(load(options).samples.size(), 10U);
  EXPECT_NE(problems_.find("the row stops before its last column"), std::string::npos) << problems_;
  EXPECT_NE(problems_.find("column iterations holds \"none\""), std::string::npos) << "with a bad line, all rows are";
  options.run_id = "1795000003-4242";
  EXPECT_EQ(load(options).samples.size(), 10U);
  EXPECT_NE(problems_.find("column iterations holds \"none\""), std::string::npos) << problems_;
  options.run_id = "newest~16";
  EXPECT_EQ(load(options).samples.size(), 10U);
  EXPECT_NE(problems_.find("column iterations holds \"none\""), std::string::npos) << problems_;
  options.run_id.clear();
  options.all_runs = true;
  EXPECT_EQ(load(options).samples.size(), 200U);
  EXPECT_NE(problems_.find("column iterations holds \"none\""), std::string::npos) << problems_;
}

TEST_F(HistoryFile, ItsNewestRunIsFoundWhereverItStands) {
  // Written while others were: neither the first nor the last rows of the file are its.
  replace("1795000007-4242,2026-11-21T", "2026-11-21T00:00:07", "2026-11-22T00:00:07");
  const model::Dataset data = load({});
  // The row with the later start is of another process with the same pid.
  ASSERT_EQ(data.samples.size(), 11U) << "of several programs the last start is the run's";
  EXPECT_EQ(data.text(data.context(data.samples[0]).run_id), "1795000007-4242");
  EXPECT_EQ(problems_, "");
}

TEST_F(HistoryFile, IsReadForTheTestThatIsAskedFor) {
  replace("KeepsRecordsInOrder2,,,0,test", ",passed,", ",passed,none");
  model::LoadOptions options;
  options.all_runs = true;
  options.test_part = "KeepsRecordsInOrder3";
  options.only_test_part = true;
  const model::Dataset data = load(options);
  EXPECT_EQ(data.samples.size(), 40U);
  EXPECT_EQ(data.rows.size(), 800U);
  EXPECT_TRUE(data.is_partial);
  EXPECT_EQ(problems_, "");
}

TEST(Volume, ManyRowsAreSummarisedInLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  perf::MakeRows shape;
  shape.syscall_rows = 100'000;  // 45 MiB of text; as structures of numbers they were 90 MiB of memory
  const std::string path = ::testing::TempDir() + "syscost_little_memory." + std::to_string(::getpid()) + ".csv";
  {
    std::ofstream out(path, std::ios::binary);
    perf::make_rows(shape, out);
  }
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ifstream status("/proc/self/statm");
    rlim_t pages = 0;
    status >> pages;
    const rlim_t most =
        pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{24 + 48} << 20);  // 48: the CSV library's buffer
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
    std::ostringstream out, err;
    std::_Exit(bench_main({"summary", path}, out, err));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace syscost::bench
