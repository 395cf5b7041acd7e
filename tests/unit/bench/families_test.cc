// SPDX-License-Identifier: MIT
//
// From the names of tests, or the labels of runs, to families and the laws of their counts.
#include "scale/families.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "loaded.h"
#include "model/dataset.h"
#include "scale/family_laws.h"

namespace syscost::bench {
namespace {

using testing::Cells;
using testing::load;
using testing::syscall_row;
using testing::test_row;

/// `parts|joined`, and `name=value` of each argument.
std::string taken_apart(const scale::SizedName& name) {
  std::string text;
  for (std::size_t i = 0; i < name.parts.size(); ++i) {
    text += name.parts[i];
    if (i < name.arguments.size()) {
      text += "[" + name.arguments[i].name + "=" + std::to_string(name.arguments[i].value) + "]";
    }
  }
  return text;
}

TEST(FamilyName, OfABenchmarkHasItsArguments) {
  const auto of = [](const char* name) { return taken_apart(scale::sized_benchmark(name)); };
  EXPECT_EQ(of("BM_Copy/64"), "BM_Copy/[=64]");
  EXPECT_EQ(of("BM_Copy/64/8/real_time"), "BM_Copy/[=64]/[=8]/real_time");
  EXPECT_EQ(of("BM_Copy/bytes:64/threads:4"), "BM_Copy/bytes:[bytes=64]/threads:[threads=4]");
  EXPECT_EQ(of("BM_Copy<int, 4>/64/iterations:10/repeats:3/min_time:1"),
            "BM_Copy<int, 4>/[=64]/iterations:10/repeats:3/min_time:1");
  EXPECT_EQ(of("Fixture/Method/-1"), "Fixture/Method/-1") << "a negative number is no size";
  EXPECT_EQ(of("64"), "64");
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("BM/99999999999999999999"), "BM/99999999999999999999");
}

TEST(FamilyName, OfATestHasItsParameters) {
  const auto of = [](const char* name) { return taken_apart(scale::sized_test(name)); };
  EXPECT_EQ(of("Sizes/Copy.Works/4096"), "Sizes/Copy.Works/[=4096]");
  EXPECT_EQ(of("Sizes/Copy.Works/n4096"), "Sizes/Copy.Works/n[n=4096]");
  EXPECT_EQ(of("Sizes/Copy.Works/n64_m8"), "Sizes/Copy.Works/n[n=64]_m[m=8]");
  EXPECT_EQ(of("Sizes/Copy.Works/64_8"), "Sizes/Copy.Works/[=64]_[=8]");
  EXPECT_EQ(of("Sizes/Copy.Works/bytes_64"), "Sizes/Copy.Works/bytes_[bytes=64]");
  EXPECT_EQ(of("Typed/0.Works"), "Typed/0.Works");
  EXPECT_EQ(of("Copy.Works64"), "Copy.Works64");
}

TEST(FamilyName, OfALabelHasItsPairs) {
  const std::vector<scale::Argument> sizes = scale::sizes_of_label("nightly size=4096,threads=2; mode=fast x=-1");
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].name, "size");
  EXPECT_EQ(sizes[0].value, 4096);
  EXPECT_EQ(sizes[1].name, "threads");
  EXPECT_TRUE(scale::sizes_of_label("nightly").empty());
}

/// The rows of a test that writes so often.
std::string writes(const std::string& test, std::int64_t count, Cells cells = {}) {
  cells["test"] = test;
  Cells totals = cells;
  totals["total_calls"] = std::to_string(count);
  totals["total_errors"] = "0";
  std::string rows = test_row(totals);
  for (const char* of_tests : {"outcome", "lost", "wall_ns"}) cells.erase(of_tests);
  cells["calls"] = std::to_string(count);
  if (count != 0) rows += syscall_row(cells);
  return rows;
}

std::vector<scale::Family> families_in(const std::string& rows, bool by_label = false) {
  model::LoadOptions options;
  options.all_runs = options.is_history = by_label;
  testing::Loaded loaded = load(rows, options);
  EXPECT_EQ(loaded.problems, "");
  model::Dataset& data = loaded.data;
  return scale::families_of(data, model::group_samples(data, model::Tools::left_out), {by_label, true});
}

std::string law_of(const scale::Family& family, std::size_t row = 0) {
  if (row >= family.rows.size()) return "no row";
  const scale::LawRow& one = family.rows[row];
  if (!one.reason.empty()) return one.reason;
  return one.has_law() ? scale::text_of(one.solved.law, family.names) : "not solved";
}

TEST(Families, AreTestsThatDifferInNumbersAlone) {
  const auto families =
      families_in(writes("Sizes/Copy.Works/64", 131) + writes("Sizes/Copy.Works/100", 203) +
                  writes("Sizes/Copy.Works/256", 515) + writes("Sizes/Copy.Other/64", 1) + writes("Copy.Alone", 7));
  ASSERT_EQ(families.size(), 1U) << "one size is no family";
  EXPECT_EQ(families[0].name, "Sizes/Copy.Works/{n}");
  EXPECT_EQ(families[0].sizes.size(), 3U);
  EXPECT_EQ(law_of(families[0]), "2n + 3");
}

TEST(Families, ASyscallThatASizeDoesNotMakeIsZeroThere) {
  const auto families = families_in(writes("S/C.W/64", 0) + writes("S/C.W/128", 64) + writes("S/C.W/256", 192) +
                                    writes("S/C.W/1024", 960));
  EXPECT_EQ(law_of(families.at(0)), "n - 64");
}

TEST(Families, NameTheSizesThatALawOfTimesLeavesOut) {
  std::string rows = writes("S/C.W/0", 0, {{"wall_ns", "100"}}) + writes("S/C.W/2048", 2048, {{"wall_ns", ""}});
  for (const int n : {64, 128, 256, 512, 1024}) {
    rows += writes("S/C.W/" + std::to_string(n), n, {{"wall_ns", std::to_string(100 * n)}});
  }
  const auto families = families_in(rows);
  ASSERT_EQ(families.at(0).left_out.size(), 2U);
  EXPECT_EQ(families[0].left_out[0], "wall at n = 0: below 1");
  EXPECT_EQ(families[0].left_out[1], "wall at n = 2048: not measured");
}

TEST(Families, CountsThatAreTooLargeAreNoLawAndNoStep) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto families = families_in(writes("S/C.W/64", most) + writes("S/C.W/128", most) + writes("S/C.W/256", most));
  EXPECT_EQ(law_of(families.at(0)), "too large at n = 64");
}

TEST(Families, CountsThatVaryHaveNoLaw) {
  std::string rows;
  for (const int n : {64, 128, 256, 512}) {
    for (int repetition = 0; repetition < 3; ++repetition) {
      const int noise = n == 128 && repetition == 1 ? 1 : 0;
      rows += writes("S/C.W/" + std::to_string(n), 2 * n + noise, {{"repetition", std::to_string(repetition)}});
    }
  }
  EXPECT_EQ(law_of(families_in(rows).at(0)), "counts vary: 256..257 at n = 128");
}

TEST(Families, ATestThatFailedOrLostEventsIsLeftOut) {
  const auto families =
      families_in(writes("S/C.W/64", 5, {{"outcome", "failed"}}) + writes("S/C.W/128", 128) +
                  writes("S/C.W/256", 1, {{"lost", "7"}}) + writes("S/C.W/512", 512) + writes("S/C.W/1024", 1024));
  EXPECT_EQ(families.at(0).left_out, (std::vector<std::string>{"n = 64: failed", "n = 256: events were lost"}));
  EXPECT_EQ(law_of(families[0]), "n");
}

TEST(Families, OfSeveralFiltersHaveNoLaw) {
  const auto families = families_in(writes("S/C.W/64", 64) + writes("S/C.W/128", 128, {{"filter", "write"}}) +
                                    writes("S/C.W/256", 256) + writes("S/C.W/512", 512));
  EXPECT_EQ(families.at(0).refusal, "its sizes were counted under several filters");
  EXPECT_TRUE(families[0].rows.empty());
}

TEST(Families, NumbersOfInstancesAreNoSizes) {
  std::string rows;
  for (int i = 0; i < 6; ++i) rows += writes("All/C.W/" + std::to_string(i), i + 1);
  const auto families = families_in(rows);
  EXPECT_NE(families.at(0).refusal, "");
  EXPECT_TRUE(families[0].rows.empty());
}

TEST(Families, OfABenchmarkAreOfIterationsWithoutPerRunCalls) {
  std::string rows;
  for (const int n : {8, 64, 512}) {
    const std::string name = "BM_Append/" + std::to_string(n);
    const std::string calls = std::to_string(100 * n + 1);
    rows += test_row({{"kind", "benchmark"},
                      {"test", name},
                      {"iterations", "5000"},
                      {"counted_iterations", "100"},
                      {"total_calls", calls},
                      {"total_errors", "0"}});
    rows += syscall_row(
        {{"kind", "benchmark"}, {"test", name}, {"calls", calls}, {"per_run_calls", "1"}, {"per_run_errors", "0"}});
  }
  const auto families = families_in(rows);
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].name, "benchmark BM_Append/{n}");
  EXPECT_EQ(law_of(families[0], 0), "n");
  ASSERT_EQ(families[0].rows.size(), 2U);
  EXPECT_EQ(families[0].rows[1].title(), "write, per run");
  EXPECT_EQ(law_of(families[0], 1), "1");
}

TEST(Families, HaveALawOfBytesForEachCallThatMovesSome) {
  std::string rows;
  for (const int n : {8, 64, 512, 4096}) {
    const Cells key = {{"test", "S/T.W/" + std::to_string(n)}};
    Cells totals = key;
    totals.insert({{"total_calls", "2"}, {"total_errors", "0"}});
    rows += test_row(totals);
    for (const auto& [name, bytes] :
         {std::pair("write", std::to_string(3 * n + 7)), std::pair("close", std::string())}) {
      Cells cells = key;
      cells.insert({{"syscall", name}, {"calls", "1"}, {"bytes", bytes}});
      rows += syscall_row(cells);
    }
  }
  const auto families = families_in(rows);
  std::vector<std::string> laws;
  for (std::size_t i = 0; i < families.at(0).rows.size(); ++i) {
    laws.push_back(families[0].rows[i].title() + " = " + law_of(families[0], i));
  }
  EXPECT_EQ(laws, (std::vector<std::string>{"close = 1", "write = 1", "write, bytes = 3n + 7"}));
}

TEST(Families, ABenchmarkIterationHasNoPerRunBytes) {
  std::string rows;
  for (const int n : {8, 64, 512}) {
    const std::string name = "BM_Append/" + std::to_string(n);
    rows += test_row({{"kind", "benchmark"},
                      {"test", name},
                      {"iterations", "5000"},
                      {"counted_iterations", "100"},
                      {"total_calls", "101"},
                      {"total_errors", "0"}});
    rows += syscall_row({{"kind", "benchmark"},
                         {"test", name},
                         {"calls", "101"},
                         {"per_run_calls", "1"},
                         {"per_run_errors", "0"},
                         {"bytes", std::to_string(100 * n + 9)},
                         {"per_run_bytes", "9"}});
  }
  const auto families = families_in(rows);
  ASSERT_EQ(families.at(0).rows.size(), 4U);
  EXPECT_EQ(families[0].rows[2].title() + " = " + law_of(families[0], 2), "write, bytes = n");
  EXPECT_EQ(families[0].rows[3].title() + " = " + law_of(families[0], 3), "write, bytes, per run = 9");
}

TEST(Families, OfLabelsTakeTheNewestRunOfASize) {
  std::string rows;
  for (const int n : {64, 128, 1024}) {
    rows += writes("Log.Writes", n / 16, {{"run_id", "r" + std::to_string(n)}, {"label", "size=" + std::to_string(n)}});
  }
  rows += writes("Log.Writes", 9, {{"run_id", "old"}, {"label", "size=64"}, {"started_at", "2026-11-01T00:00:00Z"}});
  rows += writes("Log.Writes", 5, {{"run_id", "other"}, {"label", "nightly"}});
  const auto families = families_in(rows, true);
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].names[0], "size");
  EXPECT_EQ(law_of(families[0]), "size/16");
}

TEST(Families, OfDetailsHaveALawForEach) {
  std::string rows;
  for (const int n : {10, 20, 40}) {
    const Cells key = {{"test", "S/T.W/" + std::to_string(n)}};
    Cells totals = key;
    totals["total_calls"] = std::to_string(n + 14);
    rows += test_row(totals);
    for (const auto& [detail, calls] : {std::pair("TCGETS", n), std::pair("FIONREAD", 14)}) {
      Cells cells = key;
      cells.insert({{"syscall", "ioctl"}, {"detail", detail}, {"calls", std::to_string(calls)}});
      rows += syscall_row(cells);
    }
  }
  const auto families = families_in(rows);
  std::vector<std::string> laws;
  for (std::size_t i = 0; i < families.at(0).rows.size(); ++i) {
    laws.push_back(families[0].rows[i].title() + " = " + law_of(families[0], i));
  }
  EXPECT_EQ(laws, (std::vector<std::string>{"ioctl = n + 14", "ioctl TCGETS = n", "ioctl FIONREAD = 14"}));
}

std::string family_rows(const std::vector<int>& sizes, std::int64_t (*count)(int)) {
  std::string rows;
  for (const int n : sizes) rows += writes("S/Append.Writes/bytes" + std::to_string(n), count(n));
  return rows;
}

std::vector<std::string> changes_between(const std::string& old_rows, const std::string& new_rows) {
  std::vector<std::string> lines;
  for (const scale::LawChange& change : scale::law_changes(families_in(old_rows), families_in(new_rows))) {
    lines.push_back(scale::text_of(change));
  }
  return lines;
}

TEST(LawChanges, AreThoseOfTheProgramAndNotOfTheSizes) {
  const auto buffered = [](int n) { return std::int64_t{n + 4095} / 4096; };
  const auto bytewise = [](int n) { return std::int64_t{n}; };
  const std::vector<int> sizes = {1, 100, 4096, 4097, 65536, 65537, 1000000};
  EXPECT_EQ(changes_between(family_rows(sizes, buffered), family_rows(sizes, bytewise)),
            std::vector<std::string>{"write: 1 per 4096 bytes -> 1 per byte"});
  EXPECT_TRUE(changes_between(family_rows(sizes, buffered), family_rows(sizes, buffered)).empty());
  // Other sizes pin the block less well, and the law is written in another way.
  EXPECT_TRUE(
      changes_between(family_rows(sizes, buffered), family_rows({8, 512, 4096, 40000, 262144}, buffered)).empty());
  EXPECT_TRUE(changes_between(family_rows(sizes, buffered), family_rows({4096, 8192, 65536}, buffered)).empty());
}

TEST(LawChanges, AreThoseOfTwoBuildsOfAProgram) {
  const auto rows = [](const std::string& program, int each) {
    std::string text;
    for (const int n : {8, 64, 512}) {
      text += writes("S/C.W/" + std::to_string(n), each * n, {{"program", program}});
    }
    return text;
  };
  EXPECT_EQ(changes_between(rows("main_tests", 1), rows("pr_tests", 2)), std::vector<std::string>{"write: n -> 2n"});
  // Two programs have tests of this name: the one that did not change does not stand for the one that did.
  EXPECT_EQ(changes_between(rows("a", 1) + rows("b", 2), rows("a", 1) + rows("b", 3)),
            std::vector<std::string>{"write: 2n -> 3n"});
}

TEST(LawChanges, OfASyscallThatIsNewBeginAtZero) {
  const auto none = [](int) { return std::int64_t{0}; };
  const auto one = [](int) { return std::int64_t{1}; };
  const std::vector<int> sizes = {1, 100, 4096};
  const std::string old_rows = family_rows(sizes, one);
  std::string new_rows;
  for (const int n : sizes) {
    const std::string test = "S/Append.Writes/bytes" + std::to_string(n);
    new_rows += test_row({{"test", test}, {"total_calls", std::to_string(n + 1)}, {"total_errors", "0"}});
    new_rows += syscall_row({{"test", test}, {"calls", "1"}});
    new_rows += syscall_row({{"test", test}, {"syscall", "fsync"}, {"calls", std::to_string(n)}});
  }
  EXPECT_EQ(changes_between(old_rows, new_rows), std::vector<std::string>{"fsync: 0 -> bytes"});
  EXPECT_EQ(changes_between(new_rows, old_rows), std::vector<std::string>{"fsync: bytes -> 0"});
  EXPECT_TRUE(changes_between(family_rows(sizes, none), family_rows(sizes, none)).empty());
}

}  // namespace
}  // namespace syscost::bench
