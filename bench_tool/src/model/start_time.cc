// SPDX-License-Identifier: MIT
#include "model/start_time.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string>

namespace syscost::bench::model {
namespace {

constexpr std::string_view kPattern = "0000-00-00T00:00:00";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number of `length` digits at `at`.
int number_at(std::string_view text, std::size_t at, std::size_t length) {
  int number = 0;
  std::from_chars(text.data() + at, text.data() + at + length, number);
  return number;
}

/// `+02:00` at the end of a time, in minutes; nullopt for `Z` and anything else.
std::optional<int> offset_minutes(std::string_view zone) {
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  for (const std::size_t at : {1, 2, 4, 5}) {
    if (!is_digit(zone[at])) return std::nullopt;
  }
  const int minutes = number_at(zone, 1, 2) * 60 + number_at(zone, 4, 2);
  return zone[0] == '-' ? -minutes : minutes;
}

int days_of(int year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

}  // namespace

bool is_time(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() <= kPattern.size() || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == '0' ? !is_digit(text[i]) : text[i] != kPattern[i]) return false;
  }
  const std::string_view decimals = text.substr(kPattern.size(), text.size() - kPattern.size() - 1);
  if (!decimals.empty() && (decimals.front() != '.' || decimals.size() == 1)) return false;
  if (!decimals.empty() && !std::all_of(decimals.begin() + 1, decimals.end(), is_digit)) return false;
  const int month = number_at(text, 5, 2);
  const int day = number_at(text, 8, 2);
  return month >= 1 && month <= 12 && day >= 1 && day <= days_of(number_at(text, 0, 4), month) &&
         number_at(text, 11, 2) <= 23 && number_at(text, 14, 2) <= 59 &&
         number_at(text, 17, 2) <= 60;  // 60: a leap second
}

std::string_view sortable_time(std::string_view time) {
  if (time.ends_with('Z')) time.remove_suffix(1);
  return time;
}

std::optional<std::uint64_t> unix_ns(std::string_view time) {
  std::string utc(time);
  int offset = 0;
  if (const std::size_t zone = time.size() - std::min<std::size_t>(time.size(), 6); zone > 0) {
    if (const auto minutes = offset_minutes(time.substr(zone))) {
      offset = *minutes;
      utc = std::string(time.substr(0, zone)) + 'Z';
    }
  }
  if (utc.empty() || !is_time(utc)) return std::nullopt;
  const int year = number_at(utc, 0, 4);
  if (year < 1970 || year > 2261) return std::nullopt;  // 63 bits of ns end in 2262
  const std::chrono::sys_days day = std::chrono::year(year) / number_at(utc, 5, 2) / number_at(utc, 8, 2);
  std::chrono::nanoseconds since = day.time_since_epoch();
  since += std::chrono::hours(number_at(utc, 11, 2)) + std::chrono::minutes(number_at(utc, 14, 2) - offset) +
           std::chrono::seconds(number_at(utc, 17, 2));
  if (since.count() < 0) return std::nullopt;
  std::uint64_t unit_ns = 100'000'000;
  auto ns = static_cast<std::uint64_t>(since.count());
  for (std::size_t at = kPattern.size() + 1; at < utc.size() - 1 && unit_ns > 0; ++at, unit_ns /= 10) {
    ns += unit_ns * static_cast<std::uint64_t>(utc[at] - '0');
  }
  return ns;
}

}  // namespace syscost::bench::model
