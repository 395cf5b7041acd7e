// SPDX-License-Identifier: MIT
#include "render/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace syscost::bench::render {
namespace {

/// A number without a fraction. If it fits an integer it is printed as one: that is several times faster, and most
/// cells fit.
std::string whole(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(value) > kExact) return fmt::format("{:.0f}", value);
  return fmt::to_string(static_cast<std::int64_t>(value));
}

}  // namespace

std::string duration(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  static constexpr std::array<Unit, 3> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  for (const Unit& unit : kUnits) {
    // 999.6 us would round to "1000 us": the next unit takes over where rounding does.
    if (ns < unit.ns * 0.9995) continue;
    const double value = ns / unit.ns;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit.name);
  }
  return ns == std::floor(ns) || ns >= 99.5 ? fmt::format("{:.0f} ns", ns) : fmt::format("{:.3g} ns", ns);
}

std::string duration(const stats::Numbers& numbers) {
  return numbers ? duration(numbers->median) : kNotMeasured;
}

std::string count(double value) {
  if (value == std::floor(value)) return whole(value);
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "0" ? "<0.001" : text;
}

std::string count(const stats::Numbers& numbers) {
  if (!numbers) return kNotMeasured;
  if (numbers->is_exact()) return count(numbers->median);
  return fmt::format("{} [{}..{}]", count(numbers->median), count(numbers->min), count(numbers->max));
}

std::string calls(const stats::Numbers& numbers) {
  const std::string text = count(numbers);
  return text + (text == "1" ? " call" : " calls");
}

std::string percent(const stats::Numbers& part, const stats::Numbers& whole) {
  if (!part || !whole || whole->median <= 0) return kNotMeasured;
  return fmt::format("{:.1f}", 100.0 * part->median / whole->median);
}

std::string bytes(double value) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  const std::string exact = count(value) + (value == 1 ? " byte" : " bytes");
  if (value < 1024) return exact;
  std::size_t unit = 0;
  double shown = value / 1024;
  // 1023.6 would round to "1024".
  for (; shown >= 1023.5 && unit + 1 < kUnits.size(); ++unit) shown /= 1024;
  return fmt::format("{} ({:.{}f} {})", exact, shown, shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string power_of_two(std::uint64_t value) {
  static constexpr std::array<const char*, 5> kSuffix = {"", "K", "M", "G", "T"};
  std::size_t suffix = 0;
  while (value >= 1024 && value % 1024 == 0 && suffix + 1 < kSuffix.size()) {
    value /= 1024;
    ++suffix;
  }
  return fmt::format("{}{}", value, kSuffix[suffix]);
}

std::string plain(double value) {
  return value == std::floor(value) ? whole(value) : fmt::format("{}", value);
}

}  // namespace syscost::bench::render
