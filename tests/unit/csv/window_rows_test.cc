// SPDX-License-Identifier: MIT
#include "csv/window_rows.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <sstream>
#include <vector>

#include "syscost/schema.h"

namespace syscost::csv {
namespace {

constexpr Capabilities kEverything{.entries = true,
                                   .calls = true,
                                   .errors = true,
                                   .latency = true,
                                   .carried_in = true,
                                   .denied = true,
                                   .bytes = BytesKnown::all,
                                   .lanes = 1};

/// A row by column name. The rows of these tests hold no quotes.
using Cells = std::map<std::string, std::string, std::less<>>;

std::vector<Cells> cells_of(std::string_view text) {
  std::vector<Cells> rows;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    Cells& row = rows.emplace_back();
    std::istringstream fields(line + ",");
    std::string field;
    for (std::size_t i = 0; std::getline(fields, field, ','); ++i) {
      row[i < schema::kColumnCount ? std::string(schema::kColumnNames[i]) : "beyond the last column"] = field;
    }
    EXPECT_EQ(row.size(), schema::kColumnCount);
  }
  return rows;
}

class WindowRowsTest : public ::testing::Test {
 protected:
  WindowRowsTest() {
    run_.run_id = "run-1";
    run_.pid = 42;
    Tally& writes = cost_.table.at({Abi::x86_64, SYS_write});
    writes.entries = 5;
    writes.calls = 3;
    writes.restarts = 1;
    writes.errors.add(EINTR, 1);
    writes.errors.add(EBADF, 1);
    writes.latency.add(520);
    writes.latency.add(520);
    writes.latency.add(1000);
    writes.latency.add(3);
    cost_.table.at({Abi::x86_64, SYS_openat}).clear();
    cost_.lost = 7;
    window_.kind = "test";
    window_.test = "Suite.Test";
    window_.outcome = "passed";
    window_.wall_ns = 0;
  }

  std::vector<Cells> rows(const detail::CostData* cost, const Capabilities& capabilities) {
    std::pmr::string text;
    WindowRows(run_).append(text, window_, cost, capabilities);
    return cells_of(text);
  }

  RunColumns run_;
  WindowColumns window_;
  detail::CostData cost_{std::pmr::get_default_resource()};
};

TEST_F(WindowRowsTest, SaysOnceWhatTheRunFoundAroundIt) {
  std::pmr::string text;
  WindowRows(run_).append_run(text);
  EXPECT_EQ(text, "") << "nothing is known";
  run_.surroundings = "cpus=2;locale=C";
  WindowRows(run_).append_run(text);
  std::vector<Cells> all = cells_of(text);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["kind"], "run");
  EXPECT_EQ(all[0]["record"], "run");
  EXPECT_EQ(all[0]["detail"], "cpus=2;locale=C");
  EXPECT_EQ(all[0]["run_id"], "run-1");
  EXPECT_EQ(all[0]["test"] + all[0]["calls"] + all[0]["total_calls"], "");
}

TEST_F(WindowRowsTest, SaysThatTestsBeginAndThatTheyEnded) {
  run_.surroundings = "cpus=2";
  std::pmr::string text;
  WindowRows(run_).append_begin(text, "Suite.Only");
  WindowRows(run_).append_end(text, "failed");
  std::vector<Cells> all = cells_of(text);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["kind"] + all[0]["record"] + all[0]["window"], "runrunbegin");
  EXPECT_EQ(all[0]["test"], "Suite.Only");
  EXPECT_EQ(all[0]["detail"], "cpus=2");
  EXPECT_EQ(all[0]["outcome"], "");
  EXPECT_EQ(all[1]["kind"] + all[1]["record"] + all[1]["window"], "runrunend");
  EXPECT_EQ(all[1]["test"] + all[1]["detail"], "");
  EXPECT_EQ(all[1]["outcome"], "failed");
}

TEST_F(WindowRowsTest, SaysWhereTheOutcomeStands) {
  std::pmr::string text = "before\n";
  const std::size_t at = WindowRows(run_).append(text, window_, &cost_, kEverything);
  EXPECT_EQ(text.substr(at, 7), "passed,");
  EXPECT_EQ(text.find("passed"), at);
}

TEST_F(WindowRowsTest, SaysItOnOneLineWhateverTheVariablesHold) {
  std::pmr::string text;
  run_.surroundings = "locale=a,\"b\"\nc\r;time_zone=\xff\x01";
  WindowRows(run_).append_run(text);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_NE(text.find(",\"locale=a,\"\"b\"\"\\nc\\r;time_zone=\\xff\x01\","), std::string::npos) << text;
}

TEST_F(WindowRowsTest, HasARowForEachDetail) {
  for (FileKind kind : {FileKind::pipe, FileKind::socket}) {
    SyscallId request{Abi::x86_64, SYS_ioctl};
    request.detail = {.file = kind, .request = 0x541b};
    Tally& tally = cost_.table.at(request);
    tally.entries = tally.calls = 2;
  }
  SyscallId move{Abi::x86_64, SYS_sendfile};
  for (FileKind to : {FileKind::none, FileKind::terminal}) {
    move.detail = {.file = FileKind::file, .to = to, .is_kind_only = true};
    Tally& tally = cost_.table.at(move);
    tally.entries = tally.calls = 1;
  }
  std::map<std::string, std::string> calls;
  for (Cells& row : rows(&cost_, kEverything)) {
    if (row["syscall"] == "ioctl" || row["syscall"] == "sendfile") calls[row["detail"]] = row["calls"];
    if (row["record"] == "test") {
      EXPECT_EQ(row["total_calls"], "9");
    }
  }
  EXPECT_EQ(calls, (std::map<std::string, std::string>{
                       {"pipe 0x541b", "2"}, {"socket 0x541b", "2"}, {"file", "1"}, {"file to terminal", "1"}}));
}

TEST_F(WindowRowsTest, WritesOneTestRowAndOneRowForEachSyscallThatWasCounted) {
  std::vector<Cells> all = rows(&cost_, kEverything);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["record"], "test");
  EXPECT_EQ(all[1]["record"], "syscall");
  EXPECT_EQ(all[1]["syscall"], "write");
  for (Cells& row : all) {
    EXPECT_EQ(row["run_id"], "run-1");
    EXPECT_EQ(row["pid"], "42");
    EXPECT_EQ(row["test"], "Suite.Test");
    EXPECT_EQ(row["repetition"], "0");
    EXPECT_EQ(row["end"], "end");
  }
}

TEST_F(WindowRowsTest, HasBytesOfSyscallsThatHaveSome) {
  Tally& writes = cost_.table.at({Abi::x86_64, SYS_write});
  writes.bytes = 70;
  writes.short_calls = 1;
  Tally& unmaps = cost_.table.at({Abi::x86_64, SYS_munmap});
  unmaps.entries = unmaps.calls = 1;
  unmaps.bytes_released = 4096;
  std::vector<Cells> all = rows(&cost_, kEverything);
  ASSERT_EQ(all.size(), 3U);
  const auto totals = [](Cells& row) {
    return row["total_bytes_read"] + " " + row["total_bytes_written"] + " " + row["total_bytes_mapped"] + " " +
           row["total_bytes_unmapped"];
  };
  EXPECT_EQ(totals(all[0]), "0 70 0 4096");
  const auto bytes = [](Cells& row) {
    return row["syscall"] + " " + row["bytes"] + " " + row["bytes_released"] + " " + row["short_calls"];
  };
  EXPECT_EQ(bytes(all[1]), "write 70  1");
  EXPECT_EQ(bytes(all[2]), "munmap  4096 ");
  Capabilities without = kEverything;
  without.bytes = BytesKnown::none;
  all = rows(&cost_, without);
  EXPECT_EQ(totals(all[0]), "   ");
  EXPECT_EQ(bytes(all[1]), "write   ");
}

TEST_F(WindowRowsTest, HasInjectedCallsWhereTheBackendKnowsThem) {
  EXPECT_EQ(rows(&cost_, kEverything).back()["injected"], "");
  Capabilities knows = kEverything;
  knows.altered = true;
  EXPECT_EQ(rows(&cost_, knows).back()["injected"], "0");
  cost_.table.at({Abi::x86_64, SYS_write}).altered = 2;
  EXPECT_EQ(rows(&cost_, knows).back()["injected"], "2");
}

TEST_F(WindowRowsTest, SaysWhichCallsArePerRunWhereThatIsKnown) {
  Cells unknown = rows(&cost_, kEverything).back();
  EXPECT_EQ(unknown["per_run_calls"] + unknown["per_run_errors"] + unknown["per_run_errnos"], "");
  PerRunParts per_run;
  per_run[{Abi::x86_64, SYS_write}] = {2, std::map<int, std::uint64_t>{{EBADF, 1}}, 8};
  window_.per_run = &per_run;
  Cells known = rows(&cost_, kEverything).back();
  EXPECT_EQ(known["per_run_calls"], "2");
  EXPECT_EQ(known["per_run_errors"], "1");
  EXPECT_EQ(known["per_run_errnos"], "EBADF:1");
  EXPECT_EQ(known["per_run_bytes"], "8");
  per_run.begin()->second.errors.reset();
  EXPECT_EQ(rows(&cost_, kEverything).back()["per_run_errors"], "");
}

TEST_F(WindowRowsTest, FillsDisjointMeasures) {
  std::vector<Cells> all = rows(&cost_, kEverything);
  ASSERT_EQ(all.size(), 2U);
  const auto first_of_syscall = static_cast<std::size_t>(schema::Column::kClass);
  const auto first_of_test = static_cast<std::size_t>(schema::Column::kOutcome);
  for (std::size_t i = first_of_test; i + 1 < schema::kColumnCount; ++i) {
    const Cells& must_be_empty = i < first_of_syscall ? all[1] : all[0];
    EXPECT_EQ(must_be_empty.find(schema::kColumnNames[i])->second, "") << schema::kColumnNames[i];
  }
}

TEST_F(WindowRowsTest, SumsTheSyscallsOnTheTestRow) {
  cost_.table.at({Abi::x86_64, SYS_read}).calls = 4;
  cost_.table.at({Abi::x86_64, SYS_read}).entries = 4;
  Cells test = rows(&cost_, kEverything).front();
  EXPECT_EQ(test["total_entries"], "9");
  EXPECT_EQ(test["total_calls"], "7");
  EXPECT_EQ(test["total_errors"], "2");
  EXPECT_EQ(test["total_kernel_ns"], "2043");
  EXPECT_EQ(test["lost"], "7");
  EXPECT_EQ(test["late"], "0");
  EXPECT_EQ(test["wall_ns"], "0");
  EXPECT_EQ(test["user_ns"], "") << "it was not measured";
}

TEST_F(WindowRowsTest, ListsErrnosAndTheHistogram) {
  Cells write = rows(&cost_, kEverything).back();
  EXPECT_EQ(write["class"], "desc");
  EXPECT_EQ(write["in_flight"], "1");
  EXPECT_EQ(write["errors"], "2");
  EXPECT_EQ(write["errnos"], "EINTR:1 EBADF:1");
  EXPECT_EQ(write["histogram"], "3:1 512:2 960:1");
  EXPECT_EQ(write["latency_count"], "4");
  EXPECT_EQ(write["latency_sum_ns"], "2043");
  EXPECT_EQ(write["latency_min_ns"], "3");
  EXPECT_EQ(write["latency_max_ns"], "1000");
  EXPECT_EQ(write["p50_ns"], "544") << "the midpoint of [512, 576)";
  EXPECT_EQ(write["p99_ns"], "992") << "the midpoint of [960, 1024)";
}

TEST_F(WindowRowsTest, LeavesEmptyWhatTheBackendDoesNotMeasure) {
  std::vector<Cells> all = rows(&cost_, Capabilities{.calls = true});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["total_calls"], "3");
  for (const char* column : {"total_entries", "total_errors", "total_kernel_ns"})
    EXPECT_EQ(all[0][column], "") << column;
  EXPECT_EQ(all[1]["calls"], "3");
  for (const char* column : {"entries", "restarts", "in_flight", "no_return", "carried_in", "denied", "errors",
                             "errnos", "latency_count", "latency_sum_ns", "p50_ns", "histogram"}) {
    EXPECT_EQ(all[1][column], "") << column;
  }
}

TEST_F(WindowRowsTest, WritesTimesOnlyWhereNothingWasCounted) {
  std::vector<Cells> all = rows(nullptr, Capabilities{});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["wall_ns"], "0");
  for (const char* column : {"total_entries", "total_calls", "late", "lost"}) EXPECT_EQ(all[0][column], "") << column;
}

TEST_F(WindowRowsTest, HasNoMinimumWithoutALatency) {
  cost_.table.clear();
  cost_.table.at({Abi::x86_64, SYS_exit}).entries = 1;
  Cells row = rows(&cost_, kEverything).back();
  EXPECT_EQ(row["latency_count"], "0");
  EXPECT_EQ(row["latency_min_ns"], "");
  EXPECT_EQ(row["p50_ns"], "");
}

TEST_F(WindowRowsTest, WritesWhatAToolSawUnderItsOwnOriginAndWithoutTimes) {
  window_.wall_ns = 5000;
  window_.user_ns = 10;
  window_.iterations = 500;
  ToolWindow tool;
  tool.origin = "bpftrace";
  tool.lost = 3;
  ToolSyscall& writes = tool.syscalls.emplace_back();
  writes.id = {Abi::x86_64, SYS_write};
  writes.entries = 7;
  writes.errors = 2;
  writes.errnos = "EBADF:2";
  writes.latency_count = 7;
  writes.latency_sum_ns = 5600;
  writes.histogram = "512:6 1024:1";
  std::pmr::string text;
  WindowRows(run_).append(text, window_, tool);
  const std::vector<Cells> rows = cells_of(text);
  ASSERT_EQ(rows.size(), 2U);
  for (const Cells& row : rows) {
    EXPECT_EQ(row.at("origin"), "bpftrace");
    EXPECT_EQ(row.at("test"), "Suite.Test");
    for (const char* column :
         {"wall_ns", "user_ns", "total_kernel_ns", "total_calls", "calls", "p50_ns", "in_flight"}) {
      EXPECT_EQ(row.at(column), "") << column;
    }
  }
  EXPECT_EQ(rows[0].at("total_entries"), "7");
  EXPECT_EQ(rows[0].at("total_errors"), "2");
  EXPECT_EQ(rows[0].at("iterations"), "500");
  EXPECT_EQ(rows[0].at("lost"), "3");
  EXPECT_EQ(rows[1].at("class"), "desc");
  EXPECT_EQ(rows[1].at("entries"), "7");
  EXPECT_EQ(rows[1].at("errnos"), "EBADF:2");
  EXPECT_EQ(rows[1].at("latency_min_ns"), "");
  EXPECT_EQ(rows[1].at("histogram"), "512:6 1024:1");
}

TEST_F(WindowRowsTest, AddsUpNothingThatAToolKnowsOfSomeSyscallsOnly) {
  ToolWindow tool;
  tool.origin = "bpftrace";
  tool.syscalls.resize(2);
  tool.syscalls[0].entries = 7;
  std::pmr::string text;
  WindowRows(run_).append(text, window_, tool);
  EXPECT_EQ(cells_of(text)[0].at("total_entries"), "");
}

}  // namespace
}  // namespace syscost::csv
