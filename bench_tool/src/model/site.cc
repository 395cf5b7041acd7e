// SPDX-License-Identifier: MIT
#include "model/site.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace syscost::bench::model {
namespace {

constexpr std::string_view kAt = "at ";
constexpr std::string_view kUnknown = "unknown";

/// Reads all of `text`; nullopt if it is no number.
std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// `Log::batch+3`. An operator may end with `+`, and never with digits.
void read_function(std::string_view text, Site& site) {
  const std::size_t plus = text.rfind('+');
  if (plus != std::string_view::npos && plus != 0) {
    site.line_in_function = number(text.substr(plus + 1), 10);
    if (site.line_in_function) text = text.substr(0, plus);
  }
  site.function = text;
}

/// `src/log.cc:17 Log::batch+3`: true if `text` is of this kind. A path may hold blanks and colons.
bool read_line(std::string_view text, Site& site) {
  for (std::size_t colon = 0; (colon = text.find(':', colon + 1)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', colon), text.size());
    const auto line = number(text.substr(colon + 1, end - colon - 1), 10);
    if (!line) continue;
    site.file = text.substr(0, colon);
    site.line = *line;
    if (end < text.size()) read_function(text.substr(end + 1), site);
    return true;
  }
  return false;
}

}  // namespace

bool is_site(std::string_view detail) {
  return detail.starts_with(kAt);
}

Site parse_site(std::string_view detail) {
  Site site;
  if (!is_site(detail)) {
    site.unknown = "no call stack";
    return site;
  }
  std::string_view text = detail.substr(kAt.size());
  if (text == kUnknown || text.starts_with("unknown: ")) {
    text.remove_prefix(kUnknown.size());
    site.unknown = text.empty() ? "no reason given" : text.substr(2);
    return site;
  }
  if (read_line(text, site)) return site;
  if (const std::size_t plus = text.rfind("+0x"); plus != std::string_view::npos && plus != 0) {
    site.offset = number(text.substr(plus + 3), 16);
    if (site.offset) {
      site.module = text.substr(0, plus);
      return site;
    }
  }
  const std::size_t blank = text.find(' ');
  site.module = text.substr(0, blank);
  if (blank != std::string_view::npos) site.function = text.substr(blank + 1);
  if (site.module.empty()) site.unknown = "an empty text";
  return site;
}

std::string place_of(const Site& site) {
  if (site.has_line()) return site.file + ':' + std::to_string(site.line);
  if (site.is_unknown()) return std::string(kUnknown);
  if (!site.offset) return site.module;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, *site.offset, 16).ptr;
  return site.module + "+0x" + std::string(digits, end);
}

std::string text_of(const Site& site) {
  if (site.is_unknown()) return std::string(kUnknown) + ": " + site.unknown;
  return place_of(site) + (site.function.empty() ? "" : " " + site.function);
}

}  // namespace syscost::bench::model
