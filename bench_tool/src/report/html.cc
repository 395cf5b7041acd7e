// SPDX-License-Identifier: MIT
#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "render/svg.h"
#include "render/units.h"

namespace syscost::bench::report {

std::string text(std::string_view raw) {
  return render::xml_text(raw);
}

std::string time_text(const std::optional<double>& ns) {
  return ns ? render::duration(*ns) : render::kNotMeasured;
}

std::string count_text(const std::optional<double>& number) {
  return number ? render::count(*number) : render::kNotMeasured;
}

std::string number_cell(std::string_view content) {
  return fmt::format("<td class=\"n\">{}</td>", content);
}

std::string figure(std::string_view title, std::string_view value, std::string_view below) {
  const std::string small = below.empty() ? "" : fmt::format("<small>{}</small>", text(below));
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", text(title), text(value), small);
}

std::string share_bar(double share) {
  return fmt::format(
      "<svg class=\"share\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect "
      "class=\"all\" "
      "width=\"100\" height=\"10\"/><rect width=\"{:.1f}\" height=\"10\"/></svg>",
      100 * std::clamp(share, 0.0, 1.0));
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t size = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < size ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= size ? kLetters[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

}  // namespace syscost::bench::report
