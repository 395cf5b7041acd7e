// SPDX-License-Identifier: MIT
//
// No verdict depends on sites, whatever an edit does to the lines; and the lines that explain a change add up to it.
#include "stats/site_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands/compare.h"
#include "loaded.h"
#include "model/fold_details.h"

namespace syscost::bench::stats {
namespace {

using testing::Cells;

/// One line of a program that makes calls.
struct Line {
  std::uint64_t in_function = 0;
  std::string syscall;
  std::vector<std::uint64_t> calls;  ///< In each repetition.
  std::uint64_t failed = 0;
  std::uint64_t per_run = 0;
};

struct Function {
  std::string file;
  std::string name;
  std::uint64_t first_line = 0;
  bool has_first_line = true;
  std::vector<Line> lines;
};

struct SitedTest {
  std::vector<Function> functions;
  std::uint64_t iterations = 0;  ///< Above 0: a benchmark.
};

using Suite = std::vector<SitedTest>;

constexpr std::size_t kRepetitions = 2;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// Below `end`.
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937 engine_;
};

Suite random_suite(Random& random) {
  static constexpr std::array kNames = {"write", "openat", "read", "futex"};
  Suite suite(1 + random.below(3));
  std::uint64_t number = 0;
  for (SitedTest& test : suite) {
    test.iterations = random.one_in(3) ? 10 : 0;
    test.functions.resize(1 + random.below(4));
    for (Function& function : test.functions) {
      function = {fmt::format("src/f{}.cc", random.below(2)),
                  fmt::format("ns::f{}", ++number),
                  10 * number,
                  !random.one_in(4),
                  {}};
      std::uint64_t at = 0;
      for (std::uint64_t left = random.below(4); left > 0; --left) {
        Line line{at += 1 + random.below(3), kNames[random.below(kNames.size())], {}, 0, 0};
        const bool varies = random.one_in(8);
        const std::uint64_t calls = (1 + random.below(6)) * std::max<std::uint64_t>(test.iterations, 1);
        for (std::size_t i = 0; i < kRepetitions; ++i) line.calls.push_back(calls + (varies ? i : 0));
        line.failed = random.one_in(3) ? random.below(calls + 1) : 0;
        if (test.iterations != 0 && random.one_in(2)) {
          line.per_run = 1;
          for (std::uint64_t& count : line.calls) ++count;
        }
        function.lines.push_back(std::move(line));
      }
    }
  }
  return suite;
}

/// Moves lines as an edit does, and changes no call.
void move_lines(Random& random, Suite& suite) {
  for (SitedTest& test : suite) {
    for (Function& function : test.functions) {
      if (random.one_in(2)) function.first_line += random.below(9);
      const std::uint64_t inserted = random.one_in(2) ? random.below(5) : 0;
      const std::size_t from = random.below(function.lines.size() + 1);
      for (std::size_t i = from; i < function.lines.size(); ++i) function.lines[i].in_function += inserted;
      if (random.one_in(5)) function.name += "_renamed";
      if (random.one_in(9)) function.file = "lib/" + function.file;
    }
  }
}

void change_calls(Random& random, Suite& suite) {
  for (SitedTest& test : suite) {
    for (Function& function : test.functions) {
      for (Line& line : function.lines) {
        if (!random.one_in(3)) continue;
        const std::uint64_t more = random.below(5) * std::max<std::uint64_t>(test.iterations, 1);
        for (std::uint64_t& count : line.calls) count += more;
        if (random.one_in(2)) line.failed += more;
      }
      if (random.one_in(6)) function.lines.clear();
      if (random.one_in(6) && function.lines.size() > 1) {  // two lines become one
        function.lines[0].in_function = function.lines[1].in_function;
      }
    }
  }
}

/// `sited`: rows name their sites; else they are the rows of a run without the flag.
std::string text_of(const Suite& suite, bool sited) {
  std::string text;
  for (std::size_t t = 0; t < suite.size(); ++t) {
    const SitedTest& test = suite[t];
    for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
      struct Sum {
        std::uint64_t calls = 0, failed = 0, per_run = 0;
      };
      std::map<std::pair<std::string, std::string>, Sum> rows;
      std::uint64_t total = 0;
      for (const Function& function : test.functions) {
        for (const Line& line : function.lines) {
          std::string site;
          if (sited) {
            site = fmt::format("at {}:{} {}", function.file, function.first_line + line.in_function, function.name);
            if (function.has_first_line) site += fmt::format("+{}", line.in_function);
          }
          Sum& sum = rows[{line.syscall, site}];
          sum.calls += line.calls[repetition];
          sum.failed += line.failed;
          sum.per_run += line.per_run;
          total += line.calls[repetition];
        }
      }
      Cells key = {{"test", fmt::format("S.T{}", t)}, {"repetition", std::to_string(repetition)}};
      if (test.iterations != 0) key["kind"] = "benchmark";
      Cells totals = key;
      totals["total_calls"] = std::to_string(total);
      if (test.iterations != 0) totals["iterations"] = std::to_string(test.iterations);
      text += testing::test_row(totals);
      for (const auto& [name, sum] : rows) {
        Cells cells = key;
        cells.insert({{"syscall", name.first}, {"detail", name.second}, {"calls", std::to_string(sum.calls)}});
        cells["class"] = name.first == "futex" ? "wait;volatile" : "desc";
        cells["errors"] = std::to_string(sum.failed);
        if (sum.failed != 0) cells["errnos"] = fmt::format("EAGAIN:{}", sum.failed);
        if (test.iterations != 0) {
          cells.insert({{"per_run_calls", std::to_string(sum.per_run)}, {"per_run_errors", "0"}});
        }
        text += testing::syscall_row(cells);
      }
    }
  }
  return text;
}

struct Judged {
  commands::CompareResult result;
  std::string problems;
};

void judge(const std::string& before, const std::string& now, Judged& out) {
  model::LoadOptions load;
  load.keep_sites = true;
  for (const bool is_old : {true, false}) {
    testing::Loaded loaded = testing::load(is_old ? before : now, load);
    out.problems += loaded.problems;
    (is_old ? out.result.old_data : out.result.new_data) = std::move(loaded.data);
  }
  const std::vector<std::string> faults = commands::judge({}, out.result);
  EXPECT_TRUE(faults.empty());
}

/// Everything that the gate and people read, but for the sites.
std::string verdicts_of(const commands::CompareResult& result) {
  std::string text;
  for (const Comparison& row : result.rows) {
    text += fmt::format("{} {} {} {}\n", row.name, to_string(row.verdict), row.reason, commands::breakdown(row));
    for (const Delta& delta : row.deltas) {
      text += fmt::format("  {} {} {} {} {} {}\n", delta.syscall, delta.errno_name, static_cast<int>(delta.change),
                          delta.is_gated(), delta.old_count.median, delta.new_count.median);
    }
  }
  return text;
}

bool is_near_zero(double value) {
  return std::abs(value) < 1e-6;
}

void expect_sums(const Comparison& row, unsigned seed) {
  for (const Delta& delta : row.deltas) {
    if (!delta.is_exact()) continue;
    ASSERT_FALSE(delta.sites.empty()) << seed << ": " << delta.syscall;
    double sum = unexplained(delta);
    for (const SiteChange& one : delta.sites) sum += one.more();
    EXPECT_NEAR(sum, delta.new_count.median - delta.old_count.median, 1e-6) << seed << ": " << delta.syscall;
  }
}

TEST(SiteChanges, ChangeNoVerdictAndAddUpToTheChange) {
  std::size_t changed = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const Suite before = random_suite(random);
    Suite now = before;
    move_lines(random, now);
    if (!random.one_in(4)) change_calls(random, now);
    Judged folded;
    judge(text_of(before, false), text_of(now, false), folded);
    const std::string wanted = verdicts_of(folded.result);
    for (const auto& [old_sited, new_sited] : {std::pair(true, true), {true, false}, {false, true}}) {
      Judged judged;
      judge(text_of(before, old_sited), text_of(now, new_sited), judged);
      EXPECT_EQ(judged.problems, folded.problems);
      ASSERT_EQ(verdicts_of(judged.result), wanted) << "seed " << seed;
      ASSERT_EQ(judged.result.warnings, folded.result.warnings) << "seed " << seed;
      if (!old_sited || !new_sited) continue;
      for (const Comparison& row : judged.result.rows) {
        changed += row.deltas.size();
        expect_sums(row, seed);
      }
    }
  }
  EXPECT_GT(changed, 150U) << "the suites change too little to test anything";
}

TEST(SiteChanges, NameTheLineThatGrewAlthoughAllLinesMoved) {
  std::size_t tested = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Suite before = random_suite(random);
    // A function below text that was inserted above it; one line of it makes more calls.
    Suite now = before;
    for (auto& test : now) {
      for (Function& function : test.functions) function.first_line += 1 + random.below(30);
    }
    Function& function = now[0].functions[0];
    if (function.lines.empty() || !function.has_first_line) continue;
    Line& line = function.lines[0];
    for (std::uint64_t& count : line.calls) count += 3 * std::max<std::uint64_t>(now[0].iterations, 1);
    Judged judged;
    judge(text_of(before, true), text_of(now, true), judged);
    std::vector<Delta> deltas;
    for (const Comparison& row : judged.result.rows) {
      deltas.insert(deltas.end(), row.deltas.begin(), row.deltas.end());
    }
    ASSERT_EQ(deltas.size(), 1U) << seed;
    if (!deltas[0].is_exact()) continue;
    ASSERT_EQ(deltas[0].sites.size(), 1U) << seed;
    const SiteChange& change = deltas[0].sites[0];
    EXPECT_EQ(change.site.file, function.file);
    EXPECT_EQ(change.site.line, function.first_line + line.in_function);
    EXPECT_EQ(change.site.function, function.name);
    EXPECT_TRUE(is_near_zero(change.more() - 3));
    ++tested;
  }
  EXPECT_GT(tested, 50U);
}

/// Rows of one window: (syscall, detail, calls).
std::string window_rows(const std::vector<std::tuple<std::string, std::string, int>>& rows) {
  int total = 0;
  std::string text;
  for (const auto& [syscall, detail, calls] : rows) {
    total += calls;
    text += testing::syscall_row({{"syscall", syscall}, {"detail", detail}, {"calls", std::to_string(calls)}});
  }
  return testing::test_row({{"total_calls", std::to_string(total)}}) + text;
}

TEST(SiteChanges, NameTheLinesOfNewIfOldHasNone) {
  Judged judged;
  judge(window_rows({{"write", "", 1}}), window_rows({{"write", "at a.cc:3 f+1", 4}, {"write", "at a.cc:9 g+1", 1}}),
        judged);
  const Delta& delta = judged.result.rows.at(0).deltas.at(0);
  ASSERT_EQ(delta.sites.size(), 2U);
  EXPECT_EQ(delta.sites[0].kind, SiteChange::Kind::in_new);
  EXPECT_EQ(delta.sites[0].new_count.median, 4);
  EXPECT_EQ(unexplained(delta), 0);
}

TEST(SiteChanges, NameNewLinesIfOldDidNotMakeTheCall) {
  Judged judged;
  judge(window_rows({{"read", "", 1}}), window_rows({{"read", "", 1}, {"write", "at a.cc:3 f+1", 4}}), judged);
  const Delta& delta = judged.result.rows.at(0).deltas.at(0);
  ASSERT_EQ(delta.sites.size(), 1U);
  EXPECT_EQ(delta.sites[0].kind, SiteChange::Kind::is_new);
}

TEST(SiteChanges, CallsWithoutAStackAreNotLost) {
  Judged judged;
  judge(window_rows({{"write", "at a.cc:3 f+1", 4}}), window_rows({{"write", "at a.cc:3 f+1", 4}, {"write", "", 2}}),
        judged);
  const Delta& delta = judged.result.rows.at(0).deltas.at(0);
  ASSERT_EQ(delta.sites.size(), 1U);
  EXPECT_TRUE(delta.sites[0].site.is_unknown());
  EXPECT_EQ(delta.sites[0].more(), 2);
}

TEST(FoldSites, LeaveTheRowsOfAPlainRun) {
  const std::string text = testing::test_row({{"total_calls", "6"}}) +
                           testing::syscall_row({{"calls", "4"},
                                                 {"errors", "1"},
                                                 {"errnos", "EINTR:1"},
                                                 {"detail", "at a.cc:3 f+1"},
                                                 {"latency_count", "4"},
                                                 {"latency_sum_ns", "400"},
                                                 {"latency_min_ns", "90"},
                                                 {"latency_max_ns", "110"},
                                                 {"histogram", "88:4"}}) +
                           testing::syscall_row({{"calls", "2"},
                                                 {"errors", "2"},
                                                 {"errnos", "EINTR:1 ENOSPC:1"},
                                                 {"detail", "at b.cc:9 g+2"},
                                                 {"latency_count", "2"},
                                                 {"latency_sum_ns", "100"},
                                                 {"latency_min_ns", "40"},
                                                 {"latency_max_ns", "60"},
                                                 {"histogram", "40:1 56:1"}}) +
                           testing::syscall_row({{"syscall", "ioctl"}, {"detail", "TCGETS"}, {"calls", "0"}});
  model::LoadOptions load;
  load.keep_histograms = true;
  const testing::Loaded loaded = testing::load(text, load);
  EXPECT_EQ(loaded.problems, "");
  EXPECT_TRUE(loaded.data.has_sites);
  EXPECT_TRUE(loaded.data.site_rows.empty()) << "not asked for";
  const std::vector<model::SyscallRow> rows = loaded.data.rows_of(0);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].detail, model::kNoName);
  EXPECT_EQ(*rows[0].calls, 6U);
  EXPECT_EQ(loaded.data.text(rows[0].errnos), "EINTR:2 ENOSPC:1");
  EXPECT_EQ(*rows[0].latency_sum_ns, 500U);
  EXPECT_EQ(*rows[0].latency_min_ns, 40U);
  EXPECT_EQ(*rows[0].latency_max_ns, 110U);
  EXPECT_EQ(loaded.data.text(rows[0].histogram), "88:4 40:1 56:1");
  EXPECT_EQ(loaded.data.text(rows[1].detail), "TCGETS") << "other details stay";
}

TEST(FoldSites, AreNoDetails) {
  const testing::Loaded loaded = testing::load(window_rows({{"write", "at a.cc:3 f+1", 4}}));
  EXPECT_FALSE(model::has_details(loaded.data));
}

TEST(FoldSites, KeepNothingOfRunsThatAreLeftOut) {
  std::string older = window_rows({{"write", "at a.cc:3 f+1", 4}});
  for (std::size_t at = 0; (at = older.find(",r1,2026", at)) != std::string::npos; ++at)
    older.replace(at, 8, ",r0,2025");
  const testing::Loaded loaded = testing::load(older + window_rows({{"write", "", 4}}));
  EXPECT_FALSE(loaded.data.has_sites);
}

TEST(FoldSites, DoNotWrapAroundInASumThatIsTooLarge) {
  const std::string most = "18446744073709551614";
  const std::string text = testing::test_row() + testing::syscall_row({{"calls", most}, {"detail", "at a.cc:3 f+1"}}) +
                           testing::syscall_row({{"calls", most}, {"detail", "at a.cc:4 f+2"}});
  const testing::Loaded loaded = testing::load(text);
  ASSERT_EQ(loaded.data.rows_of(0).size(), 1U);
  EXPECT_FALSE(loaded.data.rows_of(0)[0].calls.has_value());
}

}  // namespace
}  // namespace syscost::bench::stats
