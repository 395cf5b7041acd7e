// SPDX-License-Identifier: MIT
#include "adapters/names/equal_names.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

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

/// The byte that the digit stands for; -1 if it is none.
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The value of the `count` hexadecimal digits at `at`; none if they are not there.
std::optional<std::uint32_t> hexadecimal(const std::string& text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    const int digit = digit_of(text[i]);
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

/// Adds the character in UTF-8. False if there is none of this number.
bool append_character(std::string& out, std::uint32_t code) {
  constexpr std::uint32_t kLast = 0x10FFFF;
  if (code > kLast) return false;
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned kFirstBits[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kFirstBits[more] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | ((code >> (6 * i)) & 0x3FU));
  return true;
}

/// Adds what the escape at `at`, a backslash, stands for in a file or where it is printed: the length of the escape. 0:
/// it is none.
std::size_t append_escape(std::string& out, const std::string& name, std::size_t at) {
  const char kind = at + 1 < name.size() ? name[at + 1] : ' ';
  if (kind == 'n' || kind == 'r' || kind == '0') {
    out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : '\0';
    return 2;
  }
  const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  const std::optional<std::uint32_t> value = digits != 0 ? hexadecimal(name, at + 2, digits) : std::nullopt;
  if (!value) return 0;
  if (kind == 'x') {
    out += static_cast<char>(*value);
    return 2 + digits;
  }
  return append_character(out, *value) ? 2 + digits : 0;
}

}  // namespace

std::string in_a_file(const std::string& name) {
  if (name.find('\\') == std::string::npos) return name;
  std::string bytes;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = name[i] == '\\' ? append_escape(bytes, name, i) : 0;
    if (length == 0) bytes += name[i];
    i += length == 0 ? 1 : length;
  }
  return bytes;
}

namespace {

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
