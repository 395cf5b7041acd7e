// SPDX-License-Identifier: MIT
#include "os/decimal_text.h"

#include <array>
#include <charconv>

namespace syscost {
namespace {

std::string text_of(double value, std::chars_format format, int precision) {
  std::array<char, 400> text{};  // the largest number has 309 digits
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace

std::string decimal_text(double value, int decimals) {
  return text_of(value, std::chars_format::fixed, decimals);
}

std::string significant_text(double value, int digits) {
  return text_of(value, std::chars_format::general, digits);
}

std::optional<double> number_of_text(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace syscost
