// SPDX-License-Identifier: MIT
#include "scale/family_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace syscost::bench::scale {
namespace {

/// Digits alone, without a sign.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const bool has_sign = text.empty() || text.front() < '0' || text.front() > '9';
  if (has_sign) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What Google Benchmark appends to a name, and what is no size.
bool is_setting(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kSettings = {"iterations", "repeats", "min_time", "min_warmup_time"};
  return std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end();
}

/// Collects the parts of a name and its arguments.
class Builder {
 public:
  void text(std::string_view text) { sized_.parts.back() += text; }
  void argument(std::string_view name, std::int64_t value) {
    sized_.arguments.push_back({std::string(name), value});
    sized_.parts.emplace_back();
  }
  SizedName take() { return std::move(sized_); }

 private:
  SizedName sized_ = {{""}, {}};
};

}  // namespace

SizedName sized_benchmark(std::string_view name) {
  Builder builder;
  for (bool is_first = true; !name.empty() || is_first; is_first = false) {
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (!is_first) builder.text("/");
    const std::size_t colon = part.rfind(':');
    const std::string_view word = colon == std::string_view::npos ? std::string_view() : part.substr(0, colon);
    const auto value = number_of(colon == std::string_view::npos ? part : part.substr(colon + 1));
    // The first part is the function: `BM_Copy<4>` or `7` are no sizes of it.
    if (is_first || !value || is_setting(word)) {
      builder.text(part);
      continue;
    }
    if (!word.empty()) builder.text(std::string(word) + ":");
    builder.argument(word, *value);
  }
  return builder.take();
}

SizedName sized_test(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = name.rfind('.');
  Builder builder;
  // `Typed/0.Works` is the test `Works` of the first type.
  if (slash == std::string_view::npos || (dot != std::string_view::npos && slash < dot)) {
    builder.text(name);
    return builder.take();
  }
  builder.text(name.substr(0, slash + 1));
  std::string_view rest = name.substr(slash + 1);
  std::string word;
  while (!rest.empty()) {
    const auto digit = std::find_if(rest.begin(), rest.end(), is_digit);
    const auto before = static_cast<std::size_t>(digit - rest.begin());
    word = rest.substr(0, before);
    builder.text(word);
    rest.remove_prefix(before);
    if (rest.empty()) break;
    const auto other = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
    const auto value = number_of(rest.substr(0, other));
    if (!value) {
      builder.text(rest.substr(0, other));
    } else {
      const std::size_t begin = word.find_first_not_of('_');
      const std::size_t end = word.find_last_not_of('_');
      builder.argument(begin == std::string::npos ? "" : word.substr(begin, end - begin + 1), *value);
    }
    rest.remove_prefix(other);
  }
  return builder.take();
}

std::vector<Argument> sizes_of_label(std::string_view label) {
  constexpr std::string_view kBreaks = ",; ";
  std::vector<Argument> sizes;
  while (!label.empty()) {
    const std::size_t end = std::min(label.find_first_of(kBreaks), label.size());
    const std::string_view pair = label.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals != 0) {
      if (const auto value = number_of(pair.substr(equals + 1))) {
        sizes.push_back({std::string(pair.substr(0, equals)), *value});
      }
    }
    label.remove_prefix(std::min(end + 1, label.size()));
  }
  return sizes;
}

}  // namespace syscost::bench::scale
