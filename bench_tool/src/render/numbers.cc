// SPDX-License-Identifier: MIT
#include "render/numbers.h"

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

CsvWriter::CsvWriter(const std::vector<std::string_view>& columns) {
  for (std::string_view column : columns) cell(column);
  end_row();
}

void CsvWriter::separate() {
  if (!is_first_) out_ += ',';
  is_first_ = false;
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out_ += text;
    return *this;
  }
  out_ += '"';
  for (char c : text) {
    if (c == '"') out_ += '"';
    out_ += c;
  }
  out_ += '"';
  return *this;
}

CsvWriter& CsvWriter::number(double value) {
  separate();
  out_ += plain(value);
  return *this;
}

CsvWriter& CsvWriter::number(std::optional<double> value) {
  if (value) return number(*value);
  separate();
  return *this;
}

void CsvWriter::end_row() {
  out_ += '\n';
  is_first_ = true;
}

std::optional<double> median(const stats::Numbers& numbers) {
  return numbers ? std::optional(numbers->median) : std::nullopt;
}

}  // namespace syscost::bench::render
