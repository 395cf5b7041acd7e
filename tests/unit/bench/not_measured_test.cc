// SPDX-License-Identifier: MIT
//
// A number that was not measured is never 0: not in a sum, not in a comparison, in no output.
//
// The run has no number that is 0. From a copy the columns go that some backend or flag does not measure, one kind
// after the other. No command may print a 0 for it that it does not print for the whole run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "../csv/temporary_folder.h"
#include "bench.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

using Columns = std::set<std::string>;

const Columns kErrors = {"errors", "errnos", "total_errors"};
const Columns kLatencies = {"latency_count",  "latency_sum_ns", "latency_min_ns",
                            "latency_max_ns", "histogram",      "total_kernel_ns"};
const Columns kBytes = {"bytes",
                        "bytes_released",
                        "short_calls",
                        "total_bytes_read",
                        "total_bytes_written",
                        "total_bytes_mapped",
                        "total_bytes_unmapped"};
const Columns kCalls = {"calls",     "total_calls", "restarts", "in_flight",
                        "no_return", "carried_in",  "denied",   "injected"};

Columns united(const std::vector<Columns>& all) {
  Columns out;
  for (const Columns& one : all) out.insert(one.begin(), one.end());
  return out;
}

/// The columns that are not measured, by the name of the test.
const std::map<std::string, Columns>& kinds() {
  static const std::map<std::string, Columns> all = {
      {"Errors", kErrors},
      {"Latencies", kLatencies},
      {"Bytes", kBytes},
      {"Entries", {"entries", "total_entries"}},
      {"Results", united({kErrors, kLatencies, kBytes, kCalls})},
      {"Counts", united({kErrors, kLatencies, kBytes, kCalls, {"entries", "total_entries", "late", "lost"}})},
      {"Times", {"wall_ns", "user_ns", "system_ns", "overhead_estimate_ns"}},
      {"ProcessorTimes", {"user_ns", "system_ns"}},
      {"Leaks", {"descriptors_left", "threads_left", "children_left", "mapped_bytes_left", "left_open"}},
      {"Peaks", {"peak_rss_bytes", "peak_mapped_bytes"}},
      {"Losses", {"late", "lost"}}};
  return all;
}

std::string number(int value) {
  return std::to_string(value);
}

/// Rows of three tests, the third with a scope; each makes calls of three syscalls.
std::string rows(const std::string& run, const Columns& without, const std::string& lost = "1") {
  const auto left = [&](testing::Cells cells) {
    for (const std::string& column : without) {
      if (cells.contains(column)) cells[column] = "";
    }
    return cells;
  };
  std::string out = testing::header();
  for (int test = 1; test <= 3; ++test) {
    const testing::Cells key = {{"run_id", run}, {"test", "Log.Writes/" + number(test)}};
    testing::Cells totals = key;
    totals.insert({{"wall_ns", number(9'000'000 * test)},
                   {"user_ns", number(1'000'000 * test)},
                   {"system_ns", number(2'000'000 * test)},
                   {"overhead_estimate_ns", number(1234 * test)},
                   {"total_calls", number(36 * test)},
                   {"total_entries", number(36 * test + 9)},
                   {"total_errors", number(6 * test)},
                   {"total_kernel_ns", number(300'000 * (12 * test + 1))},
                   {"total_bytes_read", number(7000 * test)},
                   {"total_bytes_written", number(8000 * test)},
                   {"total_bytes_mapped", number(4096 * test)},
                   {"total_bytes_unmapped", number(8192 * test)},
                   {"peak_rss_bytes", number(5'000'000)},
                   {"peak_mapped_bytes", number(6'000'000)},
                   {"descriptors_left", number(test)},
                   {"threads_left", number(test)},
                   {"children_left", number(test)},
                   {"mapped_bytes_left", number(4096)},
                   {"left_open", "3 /dev/null"},
                   {"late", lost},
                   {"lost", lost}});
    out += testing::test_row(left(totals));
    for (const auto& [name, classes] :
         {std::pair("read", "desc"), std::pair("futex", "wait;volatile"), std::pair("openat", "file;desc")}) {
      testing::Cells cells = key;
      cells.insert({{"syscall", name},
                    {"class", classes},
                    {"calls", number(12 * test)},
                    {"entries", number(12 * test + 3)},
                    {"restarts", "1"},
                    {"in_flight", "1"},
                    {"no_return", "1"},
                    {"carried_in", "1"},
                    {"denied", "1"},
                    {"errors", number(2 * test)},
                    {"errnos", "ENOENT:" + number(2 * test)},
                    {"injected", "1"},
                    {"bytes", number(7000 * test)},
                    {"bytes_released", number(8192)},
                    {"short_calls", "1"},
                    {"latency_count", number(12 * test + 1)},
                    {"latency_sum_ns", number(100'000 * (12 * test + 1))},
                    {"latency_min_ns", "100000"},
                    {"latency_max_ns", "100000"},
                    {"histogram", "98304:" + number(12 * test + 1)}});
      out += testing::syscall_row(left(cells));
    }
  }
  return out;
}

/// Numbers that are 0: `0`, `0.0 %`, `"calls": 0`; not the 0 of 10, 0.5, c0 or #0a0.
std::size_t zeros_in(const std::string& text) {
  static const std::regex zero(R"((^|[^0-9A-Za-z_.#-])0(\.0+)?(?![0-9A-Za-z_.]))");
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), zero), std::sregex_iterator()));
}

class NotMeasured : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    write("old", {});
    // A run that lost events is not judged: one without the number is held against one that lost none.
    write("whole", {}, GetParam() == "Losses" ? "0" : "1");
    write("missing", kinds().at(GetParam()));
  }

  void write(const std::string& run, const Columns& without, const std::string& lost = "1") const {
    std::ofstream(file(run)) << rows(run, without, lost);
  }
  std::string file(const std::string& run) const { return folder_.file(run + ".csv"); }

  /// The output of a command for `run`; $RUN stands for it in `args`.
  std::string printed(std::vector<std::string> args, const std::string& run, int* code = nullptr) const {
    for (std::string& arg : args) {
      if (arg == "$RUN") arg = file(run);
      if (arg == "$OLD") arg = file("old");
      if (arg == "$FILE") arg = folder_.file("out");
    }
    std::ostringstream out;
    std::ostringstream err;
    const int ended = bench_main(args, out, err);
    if (code != nullptr) *code = ended;
    std::ostringstream written;
    if (std::ifstream in(folder_.file("out")); in) written << in.rdbuf();
    std::filesystem::remove(folder_.file("out"));
    return out.str() + written.str();
  }

  syscost::testing::TemporaryFolder folder_;
};

TEST_P(NotMeasured, IsZeroInNoOutput) {
  const std::vector<std::vector<std::string>> commands = {
      {"summary", "$RUN"},
      {"summary", "$RUN", "--details"},
      {"summary", "$RUN", "--format", "md"},
      {"summary", "$RUN", "--format", "csv"},
      {"summary", "$RUN", "--format", "json"},
      {"show", "$RUN", "Log.Writes/1"},
      {"show", "$RUN", "Log.Writes/1", "--format", "json"},
      {"show", "$RUN", "Log.Writes/1", "--format", "csv"},
      {"findings", "$RUN", "--notes"},
      {"findings", "$RUN", "--format", "json"},
      {"groups", "$RUN"},
      {"groups", "$RUN", "--format", "json"},
      {"scale", "$RUN"},
      {"scale", "$RUN", "--format", "json"},
      {"log", "Log.Writes/1", "$OLD", "$RUN"},
      {"log", "Log.Writes/1", "$OLD", "$RUN", "--format", "json"},
      {"export", "$RUN", "--format", "openmetrics"},
      {"export", "$RUN", "--format", "csv"},
      {"report", "$RUN", "-o", "$FILE"},
      {"compare", "$OLD", "$RUN", "--all"},
      {"compare", "$RUN", "$OLD", "--all"},
      {"compare", "$OLD", "$RUN", "--format", "md", "--all"},
      {"compare", "$OLD", "$RUN", "--format", "csv"},
      {"compare", "$OLD", "$RUN", "--format", "json"},
      {"compare", "$OLD", "$RUN", "--format", "junit"},
      {"compare", "$OLD", "$RUN", "--format", "sarif"},
      {"compare", "$OLD", "$RUN", "--format", "github"},
      {"baseline", "update", "$RUN", "-o", "$FILE", "--allow-lost"},
  };
  for (const std::vector<std::string>& command : commands) {
    std::string words;
    for (const std::string& word : command) words += word + ' ';
    const std::string whole = printed(command, "whole");
    const std::string missing = printed(command, "missing");
    EXPECT_FALSE(missing.empty()) << words;
    EXPECT_LE(zeros_in(missing), zeros_in(whole)) << words << '\n' << missing << "\nof the whole run:\n" << whole;
  }
}

TEST_P(NotMeasured, ChangesNoCount) {
  write("old", {}, "0");
  write("missing", kinds().at(GetParam()), "0");
  for (const auto& [before, now] : {std::pair("$OLD", "$RUN"), std::pair("$RUN", "$OLD")}) {
    int code = 0;
    const std::string text = printed({"compare", before, now, "--format", "json", "--gate", "all"}, "missing", &code);
    EXPECT_EQ(text.find("\"verdict\": \"regressed\""), std::string::npos) << text;
    EXPECT_EQ(text.find("\"verdict\": \"improved\""), std::string::npos) << text;
    EXPECT_EQ(text.find("\"change\": "), std::string::npos) << text;
    EXPECT_TRUE(code == 0 || code == 3) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, NotMeasured, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& [name, columns] : kinds()) names.push_back(name);
                           return names;
                         }()),
                         [](const auto& tested) { return tested.param; });

/// Limits that each number would keep.
TEST(NotMeasuredNumbers, KeepNoLimit) {
  const syscost::testing::TemporaryFolder folder;
  const std::vector<std::tuple<std::string, std::string>> limits = {
      {"max_errors = 1000000", "Errors"},        {"max_kernel = \"1000 s\"", "Latencies"},
      {"max_bytes = \"1 TiB\"", "Bytes"},        {"max_short_calls = 1000000", "Bytes"},
      {"max_bytes_read = \"1 TiB\"", "Bytes"},   {"max_calls = 1000000", "Counts"},
      {"max_wall = \"1000 s\"", "Times"},        {"max_cpu = \"1000 s\"", "ProcessorTimes"},
      {"leaked_descriptors = 1000000", "Leaks"}, {"max_peak_mapped = \"1 TiB\"", "Peaks"}};
  for (const auto& [limit, kind] : limits) {
    const std::string toml = folder.file("limits.toml");
    std::ofstream(toml) << "[[budget]]\ntest = [\"*\"]\n" << limit << '\n';
    for (const std::string per : {"", "per = \"program\"\n"}) {
      std::ofstream(toml, std::ios::app) << per;
      const auto checked = [&](const Columns& without, const std::string& lost = "0") {
        std::ofstream(folder.file("run.csv")) << rows("r", without, lost);
        std::ostringstream out;
        std::ostringstream err;
        return bench_main({"check", folder.file("run.csv"), "--budgets", toml}, out, err);
      };
      EXPECT_EQ(checked({}), 0) << limit << per;
      EXPECT_EQ(checked(kinds().at(kind)), 3) << limit << per;
      const bool is_of_calls = std::set<std::string>{"Errors", "Latencies", "Bytes", "Counts"}.contains(kind);
      EXPECT_EQ(checked({}, "1"), is_of_calls ? 3 : 0) << limit << per << "events were lost";
    }
  }
}

}  // namespace
}  // namespace syscost::bench
