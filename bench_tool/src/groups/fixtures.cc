// SPDX-License-Identifier: MIT
#include "groups/fixtures.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace syscost::bench::groups {

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

}  // namespace syscost::bench::groups
