// SPDX-License-Identifier: MIT
#include "model/lists.h"

#include <algorithm>
#include <charconv>

namespace syscost::bench::model {
namespace {

bool parse_count(std::string_view text, std::uint64_t& count) {
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return !text.empty() && error == std::errc() && rest == text.data() + text.size();
}

/// Calls `take(key, count)` for each `key:count` of a space-separated list; false when the text is not one, or when
/// `take` says so.
template <class Take>
bool for_each_pair(std::string_view text, Take take) {
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(item.size());
    if (!text.empty()) {
      text.remove_prefix(1);
      if (text.empty()) return false;
    }
    const std::size_t colon = item.find(':');
    std::uint64_t count = 0;
    if (colon == 0 || colon == std::string_view::npos || !parse_count(item.substr(colon + 1), count)) return false;
    if (!take(item.substr(0, colon), count)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::pair<std::string_view, std::uint64_t>>> parse_errnos(std::string_view text) {
  std::vector<std::pair<std::string_view, std::uint64_t>> errnos;
  bool is_list = for_each_pair(text, [&](std::string_view name, std::uint64_t count) {
    errnos.emplace_back(name, count);
    return true;
  });
  if (!is_list) return std::nullopt;
  return errnos;
}

bool is_errnos(std::string_view text) {
  return for_each_pair(text, [](std::string_view, std::uint64_t) { return true; });
}

bool add_histogram_text(std::string_view text, Histogram& histogram) {
  return for_each_pair(text, [&](std::string_view bound, std::uint64_t count) {
    std::uint64_t lower_ns = 0;
    if (!parse_count(bound, lower_ns)) return false;
    const std::size_t bucket = histogram_bucket(lower_ns);
    if (histogram_lower_ns(bucket) != lower_ns) return false;
    histogram.add_bucket(bucket, count);
    return true;
  });
}

bool has_class(std::string_view classes, std::string_view word) {
  while (!classes.empty()) {
    std::string_view item = classes.substr(0, classes.find(';'));
    if (item == word) return true;
    classes.remove_prefix(std::min(classes.size(), item.size() + 1));
  }
  return false;
}

}  // namespace syscost::bench::model
