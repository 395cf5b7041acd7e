// SPDX-License-Identifier: MIT
#include "groups/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "groups/behaviour.h"

namespace syscost::bench::groups {
namespace {

/// The hierarchy of more patterns would take gigabytes. The rarest ones join the group of the nearest pattern.
constexpr std::size_t kMostPatterns = 2000;
/// So many points of a data set without groups. Fewer points have larger silhouettes by chance, so that the bar is
/// rather too high for a run of more tests.
constexpr std::size_t kMostReferencePoints = 200;
constexpr double kLeastFixtureShare = 0.01;

/// Even numbers in [0, 1): those of the standard library differ between its versions.
double even(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// The range of each coordinate; a test without the syscall has 0.
std::map<std::uint32_t, std::pair<float, float>> ranges_of(std::span<const Pattern> patterns) {
  std::map<std::uint32_t, std::pair<float, float>> ranges;
  std::map<std::uint32_t, std::size_t> seen;
  for (const Pattern& pattern : patterns) {
    for (const Coordinate& one : pattern.point) {
      auto& [low, high] = ranges.try_emplace(one.syscall, one.value, one.value).first->second;
      low = std::min(low, one.value);
      high = std::max(high, one.value);
      ++seen[one.syscall];
    }
  }
  for (auto& [syscall, range] : ranges) {
    if (seen[syscall] < patterns.size()) range.first = 0;
  }
  return ranges;
}

/// The largest silhouette among kReferences data sets without groups: their points lie evenly between the least and the
/// most calls of each syscall (the reference of Tibshirani, Walther and Hastie's gap statistic, 2001).
double silhouette_by_chance(std::span<const Pattern> patterns, std::size_t tests) {
  const auto ranges = ranges_of(patterns);
  const std::size_t points = std::min(tests, kMostReferencePoints);
  const std::vector<double> weights(points, 1.0);
  std::mt19937_64 random(19);
  double largest = 0;
  for (std::size_t i = 0; i < kReferences; ++i) {
    std::vector<Point> reference(points);
    for (Point& point : reference) {
      for (const auto& [syscall, range] : ranges) {
        const auto value = range.first + (range.second - range.first) * static_cast<float>(even(random));
        if (value > 0) point.push_back({syscall, value});
      }
    }
    largest = std::max(largest, best_cut(distances_of(reference), weights, kMostGroups).best);
  }
  return largest;
}

double median(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

/// The upper median of each syscall; the most calls first. With `telling` only those that tell what a test does.
std::vector<Calls> typical_calls(std::span<const Behaviour* const> tests, std::span<const Syscall> syscalls,
                                 bool telling) {
  std::map<std::uint32_t, std::vector<double>> counts;
  for (const Behaviour* test : tests) {
    for (const Count& count : test->counts) counts[count.syscall].push_back(count.calls);
  }
  std::vector<Calls> typical;
  for (auto& [syscall, calls] : counts) {
    if (telling && !syscalls[syscall].tells) continue;
    calls.resize(tests.size());  // 0 calls in the other tests
    if (const double middle = median(calls); middle > 0) typical.push_back({syscalls[syscall].name, middle});
  }
  std::stable_sort(typical.begin(), typical.end(), [](const Calls& a, const Calls& b) { return a.calls > b.calls; });
  return typical;
}

/// The patterns of a group; the most typical one, with the least sum of distances to all tests of the group, first.
void put_typical_first(std::vector<std::size_t>& members, std::span<const Pattern> patterns,
                       const Distances& distances) {
  std::size_t best = 0;
  double least = -1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    double sum = 0;
    for (const std::size_t other : members) {
      sum += static_cast<double>(distances(members[i], other)) * static_cast<double>(patterns[other].tests.size());
    }
    if (least >= 0 && sum >= least) continue;
    least = sum;
    best = i;
  }
  std::rotate(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(best),
              members.begin() + static_cast<std::ptrdiff_t>(best) + 1);
}

Group group_of(std::span<const Behaviour* const> tests, const Behaviours& behaviours) {
  Group group;
  for (const Behaviour* test : tests) {
    group.windows.push_back(test->window);
    group.calls += test->calls;
  }
  group.typical = typical_calls(tests, behaviours.syscalls, false);
  std::vector<Calls> telling = typical_calls(tests, behaviours.syscalls, true);
  // No syscall is made by most of the tests: take those of the most typical test.
  if (telling.empty()) telling = typical_calls(tests.first(1), behaviours.syscalls, true);
  std::vector<std::string_view> names;
  for (const Calls& one : telling) names.emplace_back(one.syscall);
  group.name = words_of(names);
  return group;
}

/// Two groups that do the same differ in how often: `write, about 3 calls`, `write, about 17 calls`.
void make_names_unique(std::vector<Group>& groups) {
  std::map<std::string, std::size_t> times;
  for (const Group& group : groups) ++times[group.name];
  std::set<std::string> taken;
  for (Group& group : groups) {
    if (times[group.name] > 1) {
      double calls = 0;
      for (const Calls& one : group.typical) calls += one.calls;
      group.name += fmt::format(", about {:.0f} call{}", calls, std::round(calls) == 1 ? "" : "s");
    }
    const std::string name = group.name;
    for (int i = 2; !taken.insert(group.name).second; ++i) group.name = fmt::format("{} ({})", name, i);
  }
}

/// One label for each pattern, and how well they are apart. One label for all if chance does as well.
std::vector<std::uint32_t> label_patterns(std::span<const Pattern> patterns, std::span<const Point> points,
                                          const Distances& distances, std::size_t tests, Grouping& grouping) {
  std::vector<std::uint32_t> labels(patterns.size());
  if (tests < kLeastTests) {
    grouping.reason = fmt::format("fewer than {} tests make calls that tell what they do", kLeastTests);
    return labels;
  }
  if (patterns.size() < 2) {
    grouping.reason = "all tests make the same calls";
    return labels;
  }
  const std::size_t known = distances.size();
  std::vector<double> weights;
  for (const Pattern& pattern : patterns.first(known)) weights.push_back(static_cast<double>(pattern.tests.size()));
  BestCut best = best_cut(distances, weights, kMostGroups);
  grouping.silhouette_by_chance = silhouette_by_chance(patterns, tests);
  if (best.best <= grouping.silhouette_by_chance) {
    grouping.reason = fmt::format(
        "no cut into 2 to {} groups is better than one of data without groups: silhouette "
        "{:.2f}, by chance up to {:.2f}",
        kMostGroups, best.best, grouping.silhouette_by_chance);
    return labels;
  }
  grouping.silhouette = best.silhouette;
  std::copy(best.labels.begin(), best.labels.end(), labels.begin());
  for (std::size_t i = known; i < patterns.size(); ++i) {
    std::size_t nearest = 0;
    for (std::size_t j = 1; j < known; ++j) {
      if (difference(points[i], points[j]) < difference(points[i], points[nearest])) nearest = j;
    }
    labels[i] = labels[nearest];
  }
  return labels;
}

}  // namespace

Grouping group_tests(const Behaviours& behaviours) {
  Grouping grouping;
  grouping.tests = behaviours.tests.size();
  grouping.left_out = behaviours.left_out;
  for (const Behaviour& test : behaviours.tests) {
    grouping.calls += test.calls;
    if (!point_of(test, behaviours.syscalls).empty()) continue;
    grouping.quiet.push_back(test.window);
    grouping.quiet_calls += test.calls;
  }
  const std::vector<Pattern> patterns = patterns_of(behaviours);
  if (!patterns.empty()) {
    std::vector<Point> points;
    for (const Pattern& pattern : patterns) points.push_back(pattern.point);
    const Distances distances = distances_of(std::span(points).first(std::min(points.size(), kMostPatterns)));
    const std::vector<std::uint32_t> labels =
        label_patterns(patterns, points, distances, grouping.tests - grouping.quiet.size(), grouping);
    std::map<std::uint32_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < patterns.size(); ++i) members[labels[i]].push_back(i);
    for (auto& [label, of_group] : members) {
      std::vector<std::size_t> known;
      std::copy_if(of_group.begin(), of_group.end(), std::back_inserter(known),
                   [&](std::size_t i) { return i < distances.size(); });
      put_typical_first(known, patterns, distances);
      std::copy(known.begin(), known.end(), of_group.begin());
      std::vector<const Behaviour*> tests;
      for (const std::size_t i : of_group) {
        for (const std::size_t test : patterns[i].tests) tests.push_back(&behaviours.tests[test]);
      }
      if (tests.size() == 1) {
        grouping.alone.push_back(tests.front()->window);
        continue;
      }
      Group group = group_of(tests, behaviours);
      for (const std::size_t a : of_group) {
        for (const std::size_t b : of_group) {
          group.difference = std::max(group.difference, static_cast<double>(difference(points[a], points[b])));
        }
      }
      if (grouping.calls > 0) group.share_of_calls = group.calls / grouping.calls;
      grouping.groups.push_back(std::move(group));
    }
    std::stable_sort(grouping.groups.begin(), grouping.groups.end(),
                     [](const Group& a, const Group& b) { return a.windows.size() > b.windows.size(); });
    make_names_unique(grouping.groups);
    grouping.fixtures = fixtures_of(behaviours, grouping.calls, kLeastFixtureShare);
  }
  return grouping;
}

std::string_view fixture_of(std::string_view test) {
  // Names of Catch2 and doctest are sentences, and may hold a full stop.
  if (test.find(' ') != std::string_view::npos) return {};
  const std::size_t dot = test.find('.');
  return dot == std::string_view::npos ? std::string_view() : test.substr(0, dot);
}

std::vector<Calls> common_calls(std::span<const Behaviour* const> tests, std::span<const Syscall> syscalls) {
  std::map<std::uint32_t, double> least;
  for (const Count& count : tests.front()->counts) least.emplace(count.syscall, count.calls);
  for (const Behaviour* test : tests.subspan(1)) {
    std::map<std::uint32_t, double> both;
    for (const Count& count : test->counts) {
      const auto found = least.find(count.syscall);
      if (found != least.end()) both.emplace(count.syscall, std::min(found->second, count.calls));
    }
    least = std::move(both);
  }
  std::vector<Calls> common;
  for (const auto& [syscall, calls] : least) common.push_back({syscalls[syscall].name, calls});
  std::stable_sort(common.begin(), common.end(), [](const Calls& a, const Calls& b) { return a.calls > b.calls; });
  return common;
}

std::vector<Fixture> fixtures_of(const Behaviours& behaviours, double all_calls, double least_share) {
  std::map<std::pair<std::string, std::string_view>, std::vector<const Behaviour*>> tests_of;
  for (const Behaviour& test : behaviours.tests) {
    const std::string_view name = fixture_of(test.test);
    if (!name.empty()) tests_of[{test.program, name}].push_back(&test);
  }
  std::vector<Fixture> fixtures;
  for (const auto& [key, tests] : tests_of) {
    if (tests.size() < 2) continue;
    Fixture fixture{std::string(key.second), key.first, {}, common_calls(tests, behaviours.syscalls), 0, 0};
    for (const Calls& one : fixture.common) fixture.common_calls += one.calls;
    if (fixture.common_calls <= 0) continue;
    fixture.share_of_calls = fixture.common_calls * static_cast<double>(tests.size()) / all_calls;
    if (fixture.share_of_calls < least_share) continue;
    for (const Behaviour* test : tests) fixture.windows.push_back(test->window);
    fixtures.push_back(std::move(fixture));
  }
  std::stable_sort(fixtures.begin(), fixtures.end(),
                   [](const Fixture& a, const Fixture& b) { return a.share_of_calls > b.share_of_calls; });
  return fixtures;
}

namespace {

struct Word {
  std::string_view word;
  std::string_view syscalls;  ///< With spaces between and around.
};

/// Calls that make a descriptor, and what it is of. The order is that of the printed words.
constexpr std::array kObjects = {
    Word{"files", " open openat openat2 creat "},
    Word{"pipes", " pipe pipe2 "},
    Word{"sockets", " socket socketpair accept accept4 "},
    Word{"memory files", " memfd_create "},
    Word{"events", " eventfd eventfd2 epoll_create epoll_create1 timerfd_create signalfd signalfd4 "},
};

/// Calls on descriptors of any kind.
constexpr std::array kVerbs = {
    Word{"open", " open openat openat2 creat "},
    Word{"read", " read pread64 readv preadv preadv2 "},
    Word{"write", " write pwrite64 writev pwritev pwritev2 "},
    Word{"copy", " sendfile copy_file_range splice tee vmsplice "},
    Word{"connect", " connect "},
    Word{"listen", " listen "},
    Word{"send", " sendto sendmsg sendmmsg "},
    Word{"receive", " recvfrom recvmsg recvmmsg "},
    Word{"flush", " fsync fdatasync sync syncfs sync_file_range msync "},
    Word{"close", " close close_range "},
};

/// Other things that a test may do; the most telling first.
constexpr std::array kActions = {
    Word{"run programs", " execve execveat "},
    Word{"start processes", " clone fork vfork "},
    Word{"start threads", " clone3 "},
    Word{"trace processes", " ptrace process_vm_readv process_vm_writev "},
    Word{"send signals", " kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo "},
    Word{"control devices", " ioctl "},
    Word{"remove files", " unlink unlinkat rmdir "},
    Word{"rename files", " rename renameat renameat2 link linkat symlink symlinkat "},
    Word{"make folders", " mkdir mkdirat "},
    Word{"list folders", " getdents getdents64 "},
    Word{"resize files", " truncate ftruncate fallocate "},
    Word{"duplicate descriptors", " dup dup2 dup3 "},
    Word{"look up files", " stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat "},
    Word{"set signal handlers", " rt_sigaction sigaltstack signalfd "},
    Word{"set timers", " alarm setitimer timer_create timer_settime timerfd_settime "},
    Word{"block signals", " rt_sigprocmask "},
};

constexpr std::size_t kMostActions = 2;
constexpr std::size_t kMostNames = 4;

template <std::size_t n>
std::vector<std::string_view> matching(const std::array<Word, n>& words, std::span<const std::string_view> syscalls) {
  std::vector<std::string_view> found;
  for (const Word& word : words) {
    const bool is_made = std::any_of(syscalls.begin(), syscalls.end(), [&](std::string_view name) {
      return word.syscalls.find(fmt::format(" {} ", name)) != std::string_view::npos;
    });
    if (is_made) found.push_back(word.word);
  }
  return found;
}

}  // namespace

std::string words_of(std::span<const std::string_view> syscalls) {
  const std::vector<std::string_view> objects = matching(kObjects, syscalls);
  const std::vector<std::string_view> verbs = matching(kVerbs, syscalls);
  std::vector<std::string_view> actions = matching(kActions, syscalls);
  if (actions.size() > kMostActions) actions.resize(kMostActions);
  std::string text;
  if (objects.size() == 1 && objects.front() == "files") {
    text = fmt::format("{} files", fmt::join(verbs, ", "));
  } else if (!objects.empty()) {
    text = fmt::format("{}", fmt::join(objects, ", "));
    if (!verbs.empty()) text += fmt::format(": {}", fmt::join(verbs, ", "));
  } else if (!verbs.empty()) {
    text = fmt::format("{}", fmt::join(verbs, ", "));
  }
  if (!actions.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", fmt::join(actions, ", "));
  if (!text.empty()) return text;
  return fmt::format("{}", fmt::join(syscalls.first(std::min(kMostNames, syscalls.size())), ", "));
}

}  // namespace syscost::bench::groups
