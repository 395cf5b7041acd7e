// SPDX-License-Identifier: MIT
#include "budgets/amounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

namespace syscost::bench::budgets {
namespace {

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    return std::nullopt;
  }
  return value;
}

/// A number and one of the units.
std::optional<double> with_unit(std::string_view text, std::span<const std::pair<std::string_view, double>> units) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  const auto number = to_number(text.substr(0, end));
  std::string_view unit = text.substr(end);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto& [name, factor] : units) {
    if (number && name == unit) return *number * factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_time_ns(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}}};
  return with_unit(text, kUnits);
}

std::optional<double> parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"bytes", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776}}};
  return with_unit(text, kUnits);
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto percent = to_number(text);
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

}  // namespace syscost::bench::budgets
