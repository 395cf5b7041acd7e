// SPDX-License-Identifier: MIT
#include "render/svg.h"

#include <fmt/format.h>

#include "csv/printable.h"
#include "render/output_file.h"
#include "render/xml.h"

namespace syscost::bench::render {
namespace {

/// By which a picture is known that may be replaced.
constexpr std::string_view kBeginning = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";

}  // namespace

std::string xml_text(std::string_view text) {
  return escaped_xml(csv::printable(text));
}

std::string svg_text(double x, double y, std::string_view text, std::string_view attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ", attributes,
                     xml_text(text));
}

std::string svg_head(double width, double height) {
  return fmt::format(
      "{2}{0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#1b1b1b\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height, kBeginning);
}

std::string write_picture(const std::string& path, const std::string& svg) {
  return write_output(path, {kBeginning, "picture of bench"}, svg);
}

}  // namespace syscost::bench::render
