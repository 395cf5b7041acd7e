// SPDX-License-Identifier: MIT
#include "model/start_time.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

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

}  // namespace syscost::bench::model
