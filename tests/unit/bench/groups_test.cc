// SPDX-License-Identifier: MIT
//
// Groups of tests: planted ones are found, and where there are none, none are named.
#include "groups/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "groups/behaviour.h"
#include "windows.h"

namespace syscost::bench::groups {
namespace {

using Counts = std::vector<std::pair<std::string, double>>;

/// A test that was counted.
stats::WindowSummary counted(const std::string& name, const Counts& counts) {
  std::vector<stats::SyscallSummary> syscalls;
  for (const auto& [syscall, calls] : counts) syscalls.push_back(judge::syscall(syscall, judge::exact(calls)));
  stats::WindowSummary window = judge::window(std::move(syscalls));
  window.name = name;
  window.kind = "test";
  window.origin = "syscost";
  return window;
}

class Suite {
 public:
  void add(const std::string& name, const Counts& counts) {
    names_.push_back(name);
    stats::WindowSummary window = counted(name, counts);
    window.test = names_.back();
    window.program = "suite_tests";
    behaviours_.add(window);
  }
  Behaviours& behaviours() { return behaviours_; }
  Grouping group() const { return group_tests(behaviours_); }

 private:
  std::vector<std::string> names_;
  Behaviours behaviours_;
};

int whole(std::mt19937_64& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// How many pairs of tests are together in one of the two groupings and not in the other.
std::size_t pairs_that_differ(const std::vector<int>& truth, const std::vector<int>& found) {
  std::size_t differ = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) differ += (truth[i] == truth[j]) != (found[i] == found[j]);
  }
  return differ;
}

/// For each test `T<i>` the number of its group; a number of its own if it has none.
std::vector<int> numbers_of(const Grouping& grouping, std::size_t tests) {
  std::vector<int> numbers(tests);
  for (std::size_t i = 0; i < tests; ++i) numbers[i] = -1 - static_cast<int>(i);
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    for (const std::string& window : grouping.groups[g].windows)
      numbers[std::stoul(window.substr(3))] = static_cast<int>(g);
  }
  return numbers;
}

/// The kinds of tests that are planted: how often each syscall is made, with some more or fewer.
Counts planted(int kind, std::mt19937_64& random) {
  const auto about = [&](int calls) { return static_cast<double>(whole(random, calls, calls + (calls + 3) / 4)); };
  switch (kind) {
    case 0:
      return {{"openat", about(4)}, {"read", about(8)}, {"close", about(4)}};
    case 1:
      return {{"socket", about(2)},
              {"connect", about(2)},
              {"sendto", about(20)},
              {"recvfrom", about(20)},
              {"close", about(2)}};
    case 2:
      return {{"clone3", about(16)}, {"rt_sigprocmask", about(90)}};
    case 3:
      return {{"openat", about(100)}, {"fstat", about(100)}, {"read", about(900)}, {"close", about(100)}};
    default:
      return {{"write", about(300)}};
  }
}

TEST(Groups, ThatArePlantedAreFound) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    const int kinds = whole(random, 2, 5);
    Suite suite;
    std::vector<int> truth;
    for (int i = 0; i < 60; ++i) {
      truth.push_back(i % kinds);
      suite.add("S.T" + std::to_string(i), planted(truth.back(), random));
    }
    const Grouping grouping = suite.group();
    EXPECT_EQ(grouping.groups.size(), static_cast<std::size_t>(kinds)) << "seed " << seed;
    EXPECT_EQ(pairs_that_differ(truth, numbers_of(grouping, truth.size())), 0U) << "seed " << seed;
    EXPECT_GT(grouping.silhouette, grouping.silhouette_by_chance);
  }
}

TEST(Groups, OfTestsWithEvenlySpreadCountsAreOne) {
  std::size_t wrong = 0;
  std::size_t all = 0;
  for (const int syscalls : {1, 2, 5}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed, ++all) {
      std::mt19937_64 random(seed);
      Suite suite;
      for (int i = 0; i < 80; ++i) {
        Counts counts;
        for (int s = 0; s < syscalls; ++s) {
          // Even in the logarithm, as calls are compared.
          counts.emplace_back("call" + std::to_string(s),
                              std::floor(std::exp2(4 + 12 * static_cast<double>(whole(random, 0, 1'000'000)) / 1e6)));
        }
        suite.add("S.T" + std::to_string(i), counts);
      }
      const Grouping grouping = suite.group();
      wrong += grouping.groups.size() + grouping.alone.size() != 1;
    }
  }
  EXPECT_LE(wrong, all / 10) << "of " << all;
}

TEST(Groups, OfNoiseAroundOneBehaviourAreOne) {
  std::size_t wrong = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    std::mt19937_64 random(seed);
    Suite suite;
    for (int i = 0; i < 80; ++i) {
      Counts counts;
      for (const char* name : {"openat", "read", "close", "fstat"}) counts.emplace_back(name, whole(random, 200, 300));
      suite.add("S.T" + std::to_string(i), counts);
    }
    wrong += suite.group().groups.size() != 1;
  }
  EXPECT_LE(wrong, 1U);
}

TEST(Groups, OfEqualTestsAreOneAndSayWhy) {
  Suite suite;
  for (int i = 0; i < 10; ++i) suite.add("S.T" + std::to_string(i), {{"openat", 1}, {"read", 2}, {"close", 1}});
  const Grouping grouping = suite.group();
  ASSERT_EQ(grouping.groups.size(), 1U);
  EXPECT_EQ(grouping.groups.front().name, "open, read, close files");
  EXPECT_EQ(grouping.groups.front().difference, 0);
  EXPECT_EQ(grouping.groups.front().share_of_calls, 1);
  EXPECT_EQ(grouping.reason, "all tests make the same calls");
}

TEST(Groups, OfFewTestsAreOneAndSayWhy) {
  Suite suite;
  suite.add("S.A", {{"write", 1}});
  suite.add("S.B", {{"read", 1}});
  const Grouping grouping = suite.group();
  EXPECT_EQ(grouping.groups.size(), 1U);
  EXPECT_EQ(grouping.reason, "fewer than 6 tests make calls that tell what they do");
}

TEST(Groups, LeaveOutTestsWithoutCounts) {
  Suite suite;
  stats::WindowSummary lossy = counted("S.Lossy", {{"write", 1}});
  lossy.lost = 3;
  stats::WindowSummary uncounted = counted("S.Uncounted", {});
  uncounted.uncounted = 1;
  stats::WindowSummary of_a_tool = counted("S.Tool", {{"write", 1}});
  of_a_tool.origin = "bpftrace";
  stats::WindowSummary late = counted("S.Late", {{"write", 1}});
  late.late = 1;
  for (const stats::WindowSummary& window : {lossy, uncounted, of_a_tool, late}) suite.behaviours().add(window);
  const Grouping grouping = suite.group();
  EXPECT_EQ(grouping.tests, 0U);
  EXPECT_TRUE(grouping.groups.empty());
  ASSERT_EQ(grouping.left_out.size(), 3U);
  EXPECT_EQ(grouping.left_out[0].reason, "events were lost");
  EXPECT_EQ(grouping.left_out[1].reason, "its calls were not counted");
  EXPECT_EQ(grouping.left_out[2].reason, "events were lost");
}

TEST(Groups, LeaveOutTestsWithAnotherFilter) {
  Suite suite;
  stats::WindowSummary whole = counted("S.Whole", {{"write", 1}});
  stats::WindowSummary part = counted("S.Part", {{"write", 1}});
  part.filters = {"write"};
  for (const stats::WindowSummary& window : {whole, part}) suite.behaviours().add(window);
  const Grouping grouping = suite.group();
  EXPECT_EQ(grouping.tests, 1U);
  ASSERT_EQ(grouping.left_out.size(), 1U);
  EXPECT_EQ(grouping.left_out[0].reason, "it has another filter");
}

TEST(Groups, IgnoreWaitsMemoryAndCallsThatVary) {
  Behaviours behaviours;
  for (int i = 0; i < 8; ++i) {
    stats::WindowSummary window = counted("S.T" + std::to_string(i), {{"brk", i + 1.0}, {"futex", 3.0 * i + 1}});
    window.syscalls[0].classes = "memory";
    window.syscalls[1].classes = "wait;volatile";
    behaviours.add(window);
  }
  const Grouping grouping = group_tests(behaviours);
  EXPECT_EQ(grouping.quiet.size(), 8U);
  EXPECT_EQ(grouping.quiet_calls, grouping.calls);
  EXPECT_TRUE(grouping.groups.empty());
}

TEST(Groups, HaveNamesThatDiffer) {
  Suite suite;
  for (int i = 0; i < 10; ++i) suite.add("S.T" + std::to_string(i), {{"write", 1}});
  for (int i = 10; i < 20; ++i) suite.add("S.T" + std::to_string(i), {{"write", 4000}});
  const Grouping grouping = suite.group();
  ASSERT_EQ(grouping.groups.size(), 2U);
  EXPECT_EQ(grouping.groups[0].name, "write, about 1 call");
  EXPECT_EQ(grouping.groups[1].name, "write, about 4000 calls");
}

TEST(Fixture, HasTheCallsThatEachTestMakes) {
  Suite suite;
  suite.add("Db.Reads", {{"openat", 50}, {"read", 7}, {"close", 50}});
  suite.add("Db.Writes", {{"openat", 51}, {"write", 9}, {"close", 51}});
  suite.add("Db.Fails", {{"openat", 50}, {"close", 50}, {"unlink", 1}});
  suite.add("Other.Reads", {{"read", 100}});
  suite.add("Other.Writes", {{"write", 100}});
  const Grouping grouping = suite.group();
  ASSERT_EQ(grouping.fixtures.size(), 1U);
  const Fixture& fixture = grouping.fixtures.front();
  EXPECT_EQ(fixture.name, "Db");
  EXPECT_EQ(fixture.windows.size(), 3U);
  EXPECT_EQ(fixture.common_calls, 100);
  ASSERT_EQ(fixture.common.size(), 2U);
  EXPECT_EQ(fixture.common[0].calls, 50);
  EXPECT_DOUBLE_EQ(fixture.share_of_calls, 300.0 / 519);
}

TEST(Fixture, IsTheNameBeforeTheFirstFullStop) {
  EXPECT_EQ(fixture_of("Log.Write"), "Log");
  EXPECT_EQ(fixture_of("Sizes/Log.Write/3"), "Sizes/Log");
  EXPECT_EQ(fixture_of("reads a file. twice"), "");
  EXPECT_EQ(fixture_of("plain"), "");
}

TEST(Words, SayWhatCallsDo) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(words_of(Names{"openat", "close", "read"}), "open, read, close files");
  EXPECT_EQ(words_of(Names{"pipe2", "read", "write", "close"}), "pipes: read, write, close");
  EXPECT_EQ(words_of(Names{"openat", "socket", "connect", "sendto", "close"}),
            "files, sockets: open, connect, send, close");
  EXPECT_EQ(words_of(Names{"write"}), "write");
  EXPECT_EQ(words_of(Names{"clone3", "rt_sigprocmask"}), "start threads, block signals");
  EXPECT_EQ(words_of(Names{"getpid", "gettid"}), "getpid, gettid");
}

/// The definition, without any shortcut.
std::vector<std::uint32_t> cut_by_definition(const Distances& distances, std::size_t clusters) {
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t i = 0; i < distances.size(); ++i) all.push_back({i});
  while (all.size() > clusters) {
    std::size_t best_a = 0;
    std::size_t best_b = 0;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = a + 1; b < all.size(); ++b) {
        float most = 0;
        for (const std::size_t i : all[a]) {
          for (const std::size_t j : all[b]) most = std::max(most, distances(i, j));
        }
        if (most >= least) continue;
        least = most;
        best_a = a;
        best_b = b;
      }
    }
    all[best_a].insert(all[best_a].end(), all[best_b].begin(), all[best_b].end());
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(best_b));
  }
  std::vector<std::uint32_t> labels(distances.size());
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (const std::size_t i : all[c]) labels[i] = static_cast<std::uint32_t>(c);
  }
  return labels;
}

TEST(Hierarchy, IsThatOfTheDefinition) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    Distances distances(static_cast<std::size_t>(whole(random, 2, 30)));
    for (std::size_t a = 0; a < distances.size(); ++a) {
      for (std::size_t b = a + 1; b < distances.size(); ++b) {
        // Few different distances, so that many are equal.
        distances.set(a, b, static_cast<float>(whole(random, 1, seed % 2 == 0 ? 5 : 100'000)));
      }
    }
    const std::vector<Merge> merges = complete_linkage(distances);
    for (std::size_t clusters = 1; clusters <= distances.size(); ++clusters) {
      EXPECT_EQ(cut(distances.size(), merges, clusters), cut_by_definition(distances, clusters))
          << "seed " << seed << ", " << clusters << " clusters";
    }
  }
}

TEST(Silhouette, OfFourPointsIsThatOfTheFormula) {
  // Points 0, 1 and 10, 12 on a line.
  const std::array<float, 4> at = {0, 1, 10, 12};
  Distances distances(4);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) distances.set(a, b, at[b] - at[a]);
  }
  const std::vector<std::uint32_t> labels = {0, 0, 1, 1};
  const double expected = ((11 - 1) / 11.0 + (10 - 1) / 10.0 + (9.5 - 2) / 9.5 + (11.5 - 2) / 11.5) / 4;
  EXPECT_NEAR(silhouette(distances, labels, std::vector<double>{1, 1, 1, 1}), expected, 1e-6);
  // A point that stands for two has a neighbour at distance 0.
  const std::vector<double> weights = {2, 1, 1, 1};
  Distances five(5);
  const std::array<float, 5> all = {0, 0, 1, 10, 12};
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = a + 1; b < 5; ++b) five.set(a, b, all[b] - all[a]);
  }
  EXPECT_NEAR(silhouette(distances, labels, weights),
              silhouette(five, std::vector<std::uint32_t>{0, 0, 0, 1, 1}, std::vector<double>(5, 1.0)), 1e-6);
}

TEST(Difference, IsThePartThatIsNotShared) {
  const Point a = {{0, 2}, {1, 3}};
  const Point b = {{0, 2}, {2, 5}};
  EXPECT_FLOAT_EQ(difference(a, a), 0);
  EXPECT_FLOAT_EQ(difference(a, b), 1 - 2.0F / 10);
  EXPECT_FLOAT_EQ(difference(a, {{3, 1}}), 1);
}

}  // namespace
}  // namespace syscost::bench::groups
