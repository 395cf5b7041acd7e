// SPDX-License-Identifier: MIT
#include "model/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "csv_text.h"
#include "loaded.h"
#include "model/row_parser.h"

namespace syscost::bench {
namespace {

using testing::Cells;
using testing::load;
using testing::Loaded;
using testing::run_row;
using testing::syscall_row;
using testing::test_row;

TEST(Loader, KeepsAnEmptyCellApartFromZero) {
  const Loaded loaded = load(test_row({{"wall_ns", ""}, {"lost", "0"}}));
  ASSERT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_FALSE(loaded.data.samples[0].totals.wall_ns.has_value());
  ASSERT_TRUE(loaded.data.samples[0].totals.lost.has_value());
  EXPECT_EQ(*loaded.data.samples[0].totals.lost, 0U);
}

TEST(Loader, RefusesASyscallWithANameThatNoneHas) {
  EXPECT_EQ(load(test_row() + syscall_row({{"syscall", std::string(64, 'a')}})).problems, "");
  const Loaded loaded = load(test_row() + syscall_row({{"syscall", std::string(400'000, 'a')}}));
  EXPECT_NE(loaded.problems.find("column syscall has 400000 bytes, and no syscall's name has more than 64"),
            std::string::npos)
      << loaded.problems.substr(0, 200);
}

TEST(Loader, TakesTheRunThatStartedLastWhereverItStands) {
  const Loaded loaded = load(test_row({{"run_id", "new"}, {"started_at", "2026-11-21T02:00:00.000000Z"}}) +
                             test_row({{"run_id", "old"}, {"started_at", "2026-11-21T01:00:00.000000Z"}}));
  ASSERT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), "new");
}

TEST(Loader, RefusesAStartThatIsNoTimeInsteadOfTakingItForTheNewest) {
  for (const char* bad :
       {"yesterday", "2026-11-21", "2026-11-21T01:52:31", "2026-11-21 01:52:31Z", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T01:52:31.Z", "2026-11-21T01:52:3.1Z",
        "9999-99-99T99:99:99Z", "2026-11-21T01:52:31.12x4Z"}) {
    const Loaded loaded = load(test_row({{"run_id", "forged"}, {"started_at", bad}}) + test_row({{"run_id", "real"}}));
    EXPECT_EQ(loaded.problems, std::string("f.csv:2: column started_at holds \"") + bad +
                                   "\": a time as 2026-11-21T01:52:31.123Z expected\n");
    ASSERT_EQ(loaded.data.samples.size(), 1U) << bad;
    EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), "real");
  }
}

TEST(Loader, OrdersStartsWithAnyNumberOfDecimals) {
  const char* const in_order[] = {"",
                                  "2024-02-29T23:59:59.9Z",
                                  "2026-11-21T01:52:31Z",
                                  "2026-11-21T01:52:31.1Z",
                                  "2026-11-21T01:52:31.123456789Z",
                                  "2026-12-31T23:59:60Z"};
  for (std::size_t i = 1; i < std::size(in_order); ++i) {
    const Loaded loaded = load(test_row({{"run_id", "newer"}, {"started_at", in_order[i]}}) +
                               test_row({{"run_id", "older"}, {"started_at", in_order[i - 1]}}));
    EXPECT_EQ(loaded.problems, "");
    ASSERT_EQ(loaded.data.samples.size(), 1U);
    EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), "newer") << in_order[i];
  }
}

TEST(Loader, NamesWhatIsNearOrTheNewestOfManyRunsWhereTheWantedOneIsMissing) {
  std::string rows;
  for (int i = 10; i < 40; ++i) {
    rows += test_row(
        {{"run_id", "run" + std::to_string(i)}, {"started_at", "2026-11-21T01:52:" + std::to_string(i) + ".5Z"}});
  }
  model::LoadOptions options;
  options.run_id = "run9";
  EXPECT_EQ(load(rows, options).problems,
            "f.csv: no run \"run9\" in it; did you mean run19, run29 or run39? (`bench runs` lists them)\n");
  options.run_id = "nightly";
  EXPECT_EQ(load(rows, options).problems,
            "f.csv: no run \"nightly\" in it; it holds run39, run38, run37 and 27 older runs (`bench runs` lists "
            "them)\n");
}

TEST(Loader, FindsARunByItsLabelItsCommitAndItsAge) {
  const std::string rows =
      test_row({{"run_id", "a"}, {"label", "main"}, {"commit", "43cf7"}, {"started_at", "2026-11-21T01:00:00Z"}}) +
      test_row({{"run_id", "b"}, {"label", "main"}, {"commit", "1c8b9"}, {"started_at", "2026-11-21T02:00:00Z"}}) +
      test_row({{"run_id", "c"}, {"label", "pr"}, {"commit", "43d00"}, {"started_at", "2026-11-21T03:00:00Z"}});
  for (const auto& [asked, meant] : std::vector<std::pair<std::string, std::string>>{{"label:main", "b"},
                                                                                     {"commit:43cf", "a"},
                                                                                     {"commit:43", "c"},
                                                                                     {"newest~1", "b"},
                                                                                     {"newest", "c"},
                                                                                     {"oldest", "a"}}) {
    model::LoadOptions options;
    options.run_id = asked;
    const Loaded loaded = load(rows, options);
    ASSERT_EQ(loaded.data.samples.size(), 1U) << asked << loaded.problems;
    EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), meant) << asked;
  }
}

TEST(Loader, TakesARunForAsOldAsTheLastOfItsPrograms) {
  const std::string rows = test_row({{"run_id", "a"}, {"pid", "1"}, {"started_at", "2026-11-21T05:00:00Z"}}) +
                           test_row({{"run_id", "a"}, {"pid", "2"}, {"started_at", "2026-11-21T01:00:00Z"}}) +
                           test_row({{"run_id", "b"}, {"pid", "3"}, {"started_at", "2026-11-21T03:00:00Z"}});
  for (const auto& [asked, samples] :
       std::vector<std::pair<std::string, std::size_t>>{{"newest", 2}, {"oldest", 1}, {"newest~1", 1}}) {
    model::LoadOptions options;
    options.run_id = asked;
    EXPECT_EQ(load(rows, options).data.samples.size(), samples) << asked;
  }
}

TEST(Loader, FindsNoRunByAnAgeThatThereIsNotOrByHalfAWord) {
  const std::string rows = test_row({{"run_id", "a"}, {"commit", "43cf7"}, {"started_at", "2026-11-21T01:00:00Z"}}) +
                           test_row({{"run_id", "b"}, {"commit", "1c8b9"}, {"started_at", "2026-11-21T02:00:00Z"}}) +
                           test_row({{"run_id", "c"}, {"commit", "43d00"}, {"started_at", "2026-11-21T03:00:00Z"}});
  for (const char* asked : {"newest~3", "newest~1x", "newest~", "newest~-1", "commit:", "label:none"}) {
    model::LoadOptions options;
    options.run_id = asked;
    const Loaded loaded = load(rows, options);
    EXPECT_TRUE(loaded.data.samples.empty()) << asked;
    EXPECT_EQ(loaded.problems.find(std::string("f.csv: no run \"") + asked + "\" in it; "), 0U) << loaded.problems;
  }
  model::LoadOptions options;
  options.run_id = "nightly";
  EXPECT_EQ(load(rows, options).problems,
            "f.csv: no run \"nightly\" in it; it holds c, b, a (`bench runs` lists them)\n");
}

TEST(Loader, TakesTheNewestRunOfEachFileOfAFolder) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "bench-loader-test.XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto write = [&](const char* file, const std::string& rows) {
    std::ofstream(fs::path(name) / file) << testing::header() << rows;
  };
  write("a.csv", test_row({{"run_id", "1"}, {"started_at", "2026-11-21T01:00:00Z"}}) +
                     test_row({{"run_id", "2"}, {"started_at", "2026-11-21T02:00:00Z"}}));
  write("b.csv", test_row({{"run_id", "3"}, {"started_at", "2026-11-21T03:00:00Z"}}));
  csv::Problems problems;
  const model::Dataset data = model::load(name, model::LoadOptions(), problems);
  fs::remove_all(name);
  ASSERT_EQ(data.samples.size(), 2U);
  EXPECT_EQ(data.text(data.context(data.samples[0]).run_id), "2");
  EXPECT_EQ(data.text(data.context(data.samples[1]).run_id), "3");
}

/// What `options` reads of a file, as the test names of its rows, and the problems.
std::pair<std::string, std::size_t> read_file(const std::string& rows, const model::LoadOptions& options = {}) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "bench-loader-test.XXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path file = fs::path(name) / "f.csv";
  std::ofstream(file) << testing::header() << rows;
  csv::Problems problems;
  const model::Dataset data = model::load(file.string(), options, problems);
  fs::remove_all(name);
  std::string tests;
  for (const model::Sample& sample : data.samples) tests += data.text(sample.test) + ' ';
  return {tests, problems.count()};
}

// Rows of other runs are not read. A bad one must not decide which run is read.
TEST(Loader, ABadRowOfANewerRunLosesNoOther) {
  const std::string old_row = test_row({{"run_id", "1"}, {"test", "Old"}, {"started_at", "2026-11-21T01:00:00Z"}});
  const auto newer = [](const Cells& more) {
    Cells cells{{"run_id", "2"}, {"test", "New"}, {"started_at", "2026-11-21T02:00:00Z"}};
    for (const auto& cell : more) cells.insert_or_assign(cell.first, cell.second);
    return test_row(cells);
  };
  const std::string good = newer({});
  const std::string line = good.substr(0, good.size() - 1);
  for (const std::string& bad :
       {good.substr(0, good.size() / 2) + '\n', newer({{"schema_version", "2"}}), newer({{"kind", "z"}}),
        newer({{"pid", "z"}}), line + line + '\n', line + std::string(1, '\0') + '\n'}) {
    EXPECT_EQ(read_file(old_row + bad), std::pair(std::string("Old "), std::size_t{1})) << bad;
    EXPECT_EQ(read_file(old_row + bad + good), std::pair(std::string("New "), std::size_t{1})) << bad;
    model::LoadOptions options;
    options.run_id = "newest";
    EXPECT_EQ(read_file(old_row + bad + good, options), std::pair(std::string("New "), std::size_t{1})) << bad;
    options.run_id = "1";
    EXPECT_EQ(read_file(old_row + bad + good, options), std::pair(std::string("Old "), std::size_t{1})) << bad;
  }
}

TEST(Loader, ReadsTheRunsOfAFileThatAProgramQuotedAnew) {
  const std::string quoted = "\"a, b\"";
  EXPECT_EQ(
      read_file(
          test_row({{"run_id", "1"}, {"test", "Old"}, {"label", quoted}, {"started_at", "2026-11-21T01:00:00Z"}}) +
          test_row({{"run_id", "2"}, {"test", "New"}, {"label", quoted}, {"started_at", "2026-11-21T02:00:00Z"}})),
      std::pair(std::string("New "), std::size_t{0}));
}

TEST(Loader, KeepsAllProcessesOfTheNewestRun) {
  const Loaded loaded = load(test_row({{"pid", "1"}, {"started_at", "2026-11-21T01:00:00.000000Z"}}) +
                             test_row({{"pid", "2"}, {"started_at", "2026-11-21T01:00:09.000000Z"}}));
  EXPECT_EQ(loaded.data.samples.size(), 2U);
}

TEST(Loader, LeavesOutAndReportsARowThatIsThereTwice) {
  const Loaded loaded = load(test_row() + syscall_row() + syscall_row({{"syscall", "read"}}) + syscall_row());
  EXPECT_EQ(loaded.data.rows.size(), 2U);
  EXPECT_EQ(loaded.problems, "f.csv:5: the same key as f.csv:3; left out, it would count twice\n");
}

TEST(Loader, KeepsRequestsOfOneSyscallApart) {
  const Loaded loaded = load(test_row() + syscall_row({{"detail", "A"}}) + syscall_row({{"detail", "B"}}));
  EXPECT_EQ(loaded.data.rows.size(), 2U);
  EXPECT_EQ(loaded.problems, "");
}

TEST(Loader, FindsAWindowsRowsWhenTheFileWasSorted) {
  const Cells second = {{"test", "Suite.Other"}};
  const Loaded loaded =
      load(test_row() + test_row(second) + syscall_row() + syscall_row(second) + syscall_row({{"syscall", "read"}}));
  ASSERT_EQ(loaded.data.samples.size(), 2U);
  EXPECT_EQ(loaded.data.rows_of(0).size(), 2U);
  EXPECT_EQ(loaded.data.rows_of(1).size(), 1U);
}

TEST(Loader, ReadsTheKeyAgainWhereverOneOfItsColumnsDiffers) {
  const Cells keys[] = {{{"pid", "8"}},
                        {{"repetition", "1"}},
                        {{"test", "Suite.Tesu"}},
                        {{"window", "w"}},
                        {{"origin", "bpftrace"}},
                        {{"kind", "loop"}},
                        // The process is another one, although its pid is the same.
                        {{"host", "x"}},
                        {{"program", "x"}},
                        {{"started_at", "2026-11-20T01:00:00.000Z"}}};
  std::string rows;
  for (const Cells& key : keys) rows += test_row() + test_row(key);
  const Loaded loaded = load(rows);
  EXPECT_EQ(loaded.data.samples.size(), 1 + std::size(keys));
}

TEST(Loader, TellsKeysApartThatAreTheSameBytesOnceTheirQuotesAreGone) {
  // The library removes quotes in place. In both lines that leaves `"a"b"` and end marks.
  const Loaded loaded =
      load(test_row({{"test", R"("a""b")"}, {"window", ""}}) + test_row({{"test", R"("a"b)"}, {"window", R"("")"}}));
  ASSERT_EQ(loaded.data.samples.size(), 2U) << loaded.problems;
  EXPECT_EQ(loaded.data.text(loaded.data.samples[0].test), R"(a"b)");
  EXPECT_EQ(loaded.data.text(loaded.data.samples[1].test), R"("a"b)");
}

TEST(Loader, DoesNotTakeARowForTheNextOneOfAWindowThatWasRefused) {
  const Cells refused = {{"test", "Suite.Other"}, {"record", "total"}};
  const Loaded loaded = load(test_row() + test_row(refused) + syscall_row({{"test", "Suite.Other"}}));
  ASSERT_EQ(loaded.data.samples.size(), 2U);
  EXPECT_EQ(loaded.data.rows_of(0).size(), 0U);
  EXPECT_EQ(loaded.data.rows_of(1).size(), 1U);
}

TEST(Loader, TakesRunRowsThatAreAlikeBetweenTheRowsOfAWindow) {
  const Loaded loaded = load(test_row() + run_row() + run_row() + syscall_row());
  EXPECT_EQ(loaded.problems, "");
  ASSERT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_EQ(loaded.data.rows_of(0).size(), 1U);
  EXPECT_EQ(loaded.data.runs.size(), 2U);
}

TEST(Loader, RefusesNumbersThatDoNotFit) {
  const Loaded loaded = load(test_row({{"wall_ns", "18446744073709551616"}}) + test_row({{"wall_ns", " 1"}}) +
                             test_row({{"wall_ns", "0x10"}}));
  EXPECT_EQ(std::count(loaded.problems.begin(), loaded.problems.end(), '\n'), 3);
  EXPECT_EQ(loaded.data.samples[0].totals_line, 0U);
}

TEST(Loader, TellsANumberThatIsTooLargeFromOneThatIsNone) {
  const std::string most = "18446744073709551614";
  const Loaded most_of_all = load(test_row({{"wall_ns", most}}));
  EXPECT_EQ(most_of_all.problems, "");
  EXPECT_EQ(*most_of_all.data.samples[0].totals.wall_ns, 18446744073709551614U);
  for (const char* large : {"18446744073709551615", "18446744073709551616", "100000000000000000000000"}) {
    EXPECT_EQ(load(test_row({{"wall_ns", large}})).problems, std::string("f.csv:2: column wall_ns holds \"") + large +
                                                                 "\": a whole number up to " + most + " expected\n");
  }
  for (const char* none : {"-1", "1.5", "1e3", "1 ", "+1"}) {
    EXPECT_EQ(load(test_row({{"wall_ns", none}})).problems,
              std::string("f.csv:2: column wall_ns holds \"") + none + "\": a whole number expected\n");
  }
  EXPECT_EQ(load(test_row({{"repetition", "4294967296"}})).problems,
            "f.csv:2: column repetition holds \"4294967296\": a whole number up to 4294967295 expected\n");
}

TEST(Loader, RefusesCallsThatAddUpToTheEntriesOnlyWhereTheSumRunsOver) {
  const Loaded loaded = load(test_row() + syscall_row({{"entries", "5"},
                                                       {"calls", "18446744073709551614"},
                                                       {"restarts", "7"},
                                                       {"in_flight", "0"},
                                                       {"no_return", "0"}}));
  EXPECT_TRUE(loaded.data.rows.empty());
}

TEST(Lists, RefuseWhatIsNotAList) {
  for (const char* bad : {"ENOENT", "ENOENT:", ":3", "ENOENT:3 ", "ENOENT:x", "ENOENT:3,EINTR:1", "A:-1"}) {
    EXPECT_FALSE(model::parse_errnos(bad).has_value()) << bad;
  }
  const auto good = model::parse_errnos("ENOENT:3 EINTR:1");
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->size(), 2U);
}

TEST(Lists, FindWholeClassWordsOnly) {
  EXPECT_TRUE(model::has_class("desc;volatile", "volatile"));
  EXPECT_FALSE(model::has_class("desc;nonvolatile", "volatile"));
  EXPECT_FALSE(model::has_class("", "wait"));
}

}  // namespace
}  // namespace syscost::bench
