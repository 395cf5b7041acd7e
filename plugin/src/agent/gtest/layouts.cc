// SPDX-License-Identifier: MIT
#include "agent/gtest/layouts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace syscost::agent::gtest {
namespace {

constexpr std::size_t kWord = sizeof(void*);

const char* plus(const void* at, std::size_t bytes) {
  return static_cast<const char*>(at) + bytes;
}

/// The next element of a std::vector of pointers. Anything may lie there.
std::optional<const void*> next_pointer(VectorWords& words) {
  const std::optional<std::uintptr_t> word = words.next();
  if (!word) return std::nullopt;
  return reinterpret_cast<const void*>(*word);  // NOLINT(performance-no-int-to-ptr): the program's vector holds it
}

}  // namespace

const EventSlots* event_slots(int count) {
  // Up to 1.8.1, and 1.10 and 1.11 without the older names.
  static constexpr EventSlots k15{2, 3, 4, 5, 6, 7, kNoSuchEvent, 8, 9, 10, 11, 12, 14};
  // 1.12 and later without the older names.
  static constexpr EventSlots k16{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15};
  // 1.10 and 1.11.
  static constexpr EventSlots k17{2, 3, 4, 5, 7, 8, kNoSuchEvent, 9, 10, 11, 13, 14, 16};
  // 1.12 and later.
  static constexpr EventSlots k18{2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 17};
  switch (count) {
    case 15:
      return &k15;
    case 16:
      return &k16;
    case 17:
      return &k17;
    case 18:
      return &k18;
    default:
      return nullptr;
  }
}

int Suite::chosen() const {
  return static_cast<int>(std::count_if(tests.begin(), tests.end(), [](const Test& test) { return test.is_chosen; }));
}

// TestInfo: suite's name, name, two pointers to strings, location (a string and an int), an id, then the flags
// should_run_, is_disabled_, matches_filter_.
std::optional<Test> read_test(const void* test_info, StringLayout layout) {
  const std::size_t string = string_bytes(layout);
  const std::optional<std::string> suite = read_string(test_info, layout);
  const std::optional<std::string> name = read_string(plus(test_info, string), layout);
  const std::size_t location = 2 * string + 2 * kWord;
  const std::size_t flags = location + string + kWord + kWord;
  const auto values = read_value<std::array<unsigned char, 3>>(plus(test_info, flags));
  const std::optional<std::string> file = read_string(plus(test_info, location), layout);
  const auto line = read_value<int>(plus(test_info, location + string));
  if (!suite || !name || !values || std::any_of(values->begin(), values->end(), [](int value) { return value > 1; })) {
    return std::nullopt;
  }
  const names::TestPlace place{test_info, file.value_or(""), static_cast<std::uint64_t>(std::max(line.value_or(0), 0))};
  return Test{*suite + "." + *name, place, (*values)[0] == 1, (*values)[1] == 1};
}

namespace {

/// libstdc++'s __gnu_debug::_Safe_sequence_base: two pointers and a number.
constexpr std::size_t kDebugPart = 3 * kWord;

std::optional<std::vector<Test>> read_tests(VectorWords words, StringLayout layout) {
  std::vector<Test> tests;
  while (words.left() > 0) {
    const std::optional<const void*> test = next_pointer(words);
    std::optional<Test> read = test ? read_test(*test, layout) : std::nullopt;
    if (!read) return std::nullopt;
    tests.push_back(*std::move(read));
  }
  return tests;
}

}  // namespace

// TestSuite: vtable, name, a pointer to a string, the vector of its tests.
std::optional<Suite> read_suite(const void* test_suite, StringLayout layout) {
  const std::optional<std::string> name = read_string(plus(test_suite, kWord), layout);
  if (!name) return std::nullopt;
  std::optional<Suite> empty;
  for (const std::size_t vector_at : {std::size_t{0}, kDebugPart}) {
    const std::optional<VectorWords> words =
        VectorWords::of(plus(test_suite, kWord + string_bytes(layout) + kWord + vector_at));
    std::optional<std::vector<Test>> tests = words ? read_tests(*words, layout) : std::nullopt;
    if (!tests) continue;
    if (!tests->empty()) return Suite{*name, *std::move(tests), vector_at};
    if (!empty) empty = Suite{*name, {}, vector_at};
  }
  return empty;
}

namespace {

/// All suites to which the elements of a vector point; nothing if one of them is no suite.
std::optional<std::vector<Suite>> suites_of(VectorWords pointers, bool may_be_libcxx) {
  std::vector<Suite> suites;
  std::optional<StringLayout> layout;
  while (pointers.left() > 0) {
    const std::optional<const void*> pointer = next_pointer(pointers);
    if (!pointer) return std::nullopt;
    bool is_suite = false;
    for (const StringLayout guess : {StringLayout::libstdcxx, StringLayout::libcxx, StringLayout::libstdcxx_old}) {
      if (layout ? guess != *layout : (guess == StringLayout::libcxx && !may_be_libcxx)) continue;
      std::optional<Suite> suite = read_suite(*pointer, guess);
      // A suite without tests proves no layout, and without a name neither. A name may be empty.
      if (!suite || (suite->name.empty() && suite->tests.empty())) continue;
      if (!suite->tests.empty()) layout = guess;
      suites.push_back(*std::move(suite));
      is_suite = true;
      break;
    }
    if (!is_suite) return std::nullopt;
  }
  return layout ? std::optional(std::move(suites)) : std::nullopt;
}

}  // namespace

// UnitTest: vtable, a mutex of 56 bytes (or 8 without threads), the pointer to UnitTestImpl. That one begins with its
// vtable and a pointer back, and has the vector of suites somewhere in its first words.
std::optional<std::vector<Suite>> read_suites(const void* unit_test, bool may_be_libcxx) {
  constexpr std::size_t kMostWords = 64;
  for (const std::size_t offset : {std::size_t{64}, std::size_t{16}}) {
    const auto impl = read_value<const char*>(plus(unit_test, offset));
    if (!impl || read_value<const void*>(*impl + kWord) != unit_test) continue;
    for (std::size_t word = 2; word < kMostWords; ++word) {
      const std::optional<VectorWords> pointers = VectorWords::of(*impl + word * kWord);
      std::optional<std::vector<Suite>> suites = pointers ? suites_of(*pointers, may_be_libcxx) : std::nullopt;
      if (suites) return suites;
    }
  }
  return std::nullopt;
}

PartResult read_part_result(const void* part_result) {
  return static_cast<PartResult>(*static_cast<const int*>(part_result));
}

bool forwards(const void* repeater) {
  return *plus(repeater, kWord) != 0;
}

}  // namespace syscost::agent::gtest
