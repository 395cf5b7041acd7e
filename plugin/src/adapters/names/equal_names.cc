// SPDX-License-Identifier: MIT
#include "adapters/names/equal_names.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "adapters/names/in_a_file.h"

namespace syscost::names {
namespace {

/// The sorted values that are there more than once.
std::vector<std::size_t> repeated(std::vector<std::size_t> values) {
  std::sort(values.begin(), values.end());
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] == values[i - 1] && (found.empty() || found.back() != values[i])) found.push_back(values[i]);
  }
  return found;
}

bool is_before(const TestPlace& a, const TestPlace& b) {
  return std::tie(a.file, a.line) < std::tie(b.file, b.line);
}

}  // namespace

void EqualNames::set_all(std::size_t count, const std::function<std::string(std::size_t)>& name_of,
                         const std::function<TestPlace(std::size_t)>& place_of) {
  if (has_all_) return;
  // A program may have 100 000 tests, and memory that is taken here changes what the tests do. So names are not kept.
  std::vector<std::size_t> hashes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = in_a_file(name_of(i));
    hashes[i] = std::hash<std::string>()(name);
    if (name.find('#') != std::string::npos) taken_.insert(name);
  }
  const std::vector<std::size_t> equal = repeated(hashes);
  std::map<std::string, std::vector<Test>> all;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::binary_search(equal.begin(), equal.end(), hashes[i])) continue;
    std::string name = name_of(i);
    std::vector<Test>& tests = all[in_a_file(name)];
    tests.push_back({place_of(i), std::move(name), 0});
  }
  for (auto& [written, tests] : all) {
    std::stable_sort(tests.begin(), tests.end(),
                     [](const Test& a, const Test& b) { return is_before(a.place, b.place); });
    for (std::size_t i = 1; i < tests.size(); ++i) tests[i].own_name = free_name(tests[i].own_name);
  }
  tests_ = std::move(all);
  has_all_ = true;
}

/// `name#2`, or the next number that is no test's.
std::string EqualNames::free_name(const std::string& name) {
  for (std::size_t number = 2;; ++number) {
    std::string own = name + '#' + std::to_string(number);
    if (taken_.insert(in_a_file(own)).second) return own;
  }
}

/// The test at `place`; if several are on one line, the one that started the fewest times.
EqualNames::Test* EqualNames::find(std::vector<Test>& tests, const TestPlace& place) {
  Test* found = nullptr;
  for (Test& test : tests) {
    if (place.object != nullptr && test.place.object == place.object) return &test;
    const bool may_be = (place.object == nullptr || test.place.object == nullptr) && test.place.file == place.file &&
                        test.place.line == place.line;
    if (may_be && (found == nullptr || test.starts < found->starts)) found = &test;
  }
  return found;
}

std::string EqualNames::of(const std::string& name, const TestPlace& place) {
  const std::string written = in_a_file(name);
  auto known = tests_.find(written);
  if (known == tests_.end()) {
    if (has_all_) return name;
    const std::string own = taken_.insert(written).second ? name : free_name(name);  // `a#2` may be one that we gave
    known = tests_.emplace(written, std::vector<Test>{{place, own, 0}}).first;
  }
  Test* test = find(known->second, place);
  if (test == nullptr) {
    known->second.push_back({place, free_name(name), 0});
    test = &known->second.back();
  }
  ++test->starts;
  return test->own_name;
}

}  // namespace syscost::names
