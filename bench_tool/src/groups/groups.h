// SPDX-License-Identifier: MIT
//
// Groups: tests of a run that behave alike, the calls that all tests of a fixture make, and the words for both.
//
// A suite of two thousand tests has a few kinds of tests. The kinds show what a fixture costs, and which tests are
// unlike all others. Two tests behave alike if they make the same syscalls about as often. docs/groups.md says
// precisely how a group is found.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groups/behaviour.h"

namespace syscost::bench::groups {

/// So many calls of a syscall.
struct Calls {
  std::string syscall;
  double calls = 0;
};

/// Tests that behave alike; two or more.
struct Group {
  std::string name;                  ///< `open, read, close files`: what most of its tests do. Each name occurs once.
  std::vector<std::string> windows;  ///< The names of its tests, as in WindowSummary::name; the most typical one first.
  double calls = 0;                  ///< Those of all its tests together, every syscall counted.
  double share_of_calls = 0;         ///< `calls` in all calls of the run's tests: 0 to 1.
  double difference = 0;             ///< No two of its tests differ by more: 0 = the same calls, 1 = none in common.
  std::vector<Calls> typical;        ///< The median over its tests of each syscall; the most calls first, none of 0.
};

/// The tests of one fixture (in GoogleTest's words: of one test suite), and the calls that each of them makes.
struct Fixture {
  std::string name;                  ///< `Log`
  std::string program;               ///< Without its folder.
  std::vector<std::string> windows;  ///< Two or more.
  std::vector<Calls> common;  ///< The least number that one of the tests makes, by syscall; the most calls first.
  double common_calls = 0;    ///< Their sum: each test makes at least these calls.
  double share_of_calls = 0;  ///< `common_calls` times the number of tests, in all calls of the run's tests: 0 to 1.
};

struct Grouping {
  std::size_t tests = 0;           ///< With known counts.
  double calls = 0;                ///< Those of all of them.
  std::vector<Group> groups;       ///< The most tests first.
  std::vector<std::string> alone;  ///< Tests that are like no other.
  std::vector<std::string> quiet;  ///< Tests without a call that tells what they do: no call, or memory and waits only.
  double quiet_calls = 0;          ///< The calls of `quiet`.
  std::vector<LeftOut> left_out;   ///< Tests without usable counts.
  std::vector<Fixture> fixtures;   ///< The largest share first; those of 1 % or more.
  double silhouette = 0;           ///< How well the groups are apart, -1 to 1; 0 if there is one group.
  double silhouette_by_chance = 0;  ///< The largest silhouette of kReferences data sets without groups.
  std::string reason;               ///< Why all tests that are not quiet are one group; empty if they are not.
};

/// Data sets without groups that a grouping has to beat: all of them, so chance does it about once in a hundred runs.
inline constexpr std::size_t kReferences = 99;
/// With fewer tests there is nothing to compare.
inline constexpr std::size_t kLeastTests = 6;
/// At most so many groups, those of one test included.
inline constexpr std::size_t kMostGroups = 20;

/// Groups the tests of `behaviours`. The same input gives the same groups.
Grouping group_tests(const Behaviours& behaviours);

/// `Log` of `Log.Write`, `Suite/Log` of `Suite/Log.Write/3`; empty if the name has no such part.
std::string_view fixture_of(std::string_view test);

/// The calls that each of `tests` makes: the least number of each syscall. The most calls first.
std::vector<Calls> common_calls(std::span<const Behaviour* const> tests, std::span<const Syscall> syscalls);

/// The fixtures of two or more tests with common calls that make `least_share` or more of `all_calls`; the largest
/// share first.
std::vector<Fixture> fixtures_of(const Behaviours& behaviours, double all_calls, double least_share);

/// Words for calls, as a person says them: `open, read, close files; look up paths` for the names of syscalls, in any
/// order. Names that have no word stand as they are, if there is nothing else to say. At most some 60 characters.
std::string words_of(std::span<const std::string_view> syscalls);

}  // namespace syscost::bench::groups
