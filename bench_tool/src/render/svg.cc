// SPDX-License-Identifier: MIT
#include "render/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "csv/text.h"
#include "render/output_file.h"
#include "render/terminal.h"

namespace syscost::bench::render {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// XML 1.0, production Char.
bool is_allowed(char32_t code) {
  return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code < 0xD800) ||
         (code >= 0xE000 && code <= 0x10FFFF && code != 0xFFFE && code != 0xFFFF);
}

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const csv::Character one = csv::first_character(text);
    switch (one.code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += fmt::format("&#{};", static_cast<unsigned>(one.code));
        break;
      default:
        out += one.is_valid && is_allowed(one.code) ? text.substr(0, one.bytes) : kReplacement;
    }
    text.remove_prefix(one.bytes);
  }
  return out;
}

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

namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 16;
constexpr double kTitleHeight = 52;
constexpr double kBoxHeight = 18;
constexpr double kNarrowestBox = 0.5;  ///< Narrower boxes cannot be seen.
constexpr double kLetterWidth = 6.6;   ///< About; browsers have different fonts.
constexpr std::size_t kDeepest = 500;  ///< Further frames of a stack are not drawn.

/// A function, with those that it calls.
struct Box {
  std::uint64_t calls = 0;
  std::map<std::string, Box, std::less<>> inner;
};

void add(Box& root, const FoldedStack& stack) {
  Box* box = &root;
  box->calls += stack.calls;
  const std::size_t depth = std::min(stack.frames.size(), kDeepest);
  for (std::size_t i = 0; i < depth; ++i) {
    box = &box->inner[stack.frames[i]];
    box->calls += stack.calls;
  }
}

std::size_t depth_of(const Box& box) {
  std::size_t depth = 0;
  for (const auto& [name, one] : box.inner) depth = std::max(depth, 1 + depth_of(one));
  return depth;
}

/// A name has the same colour wherever it stands: orange to yellow, light enough for black letters.
std::string colour_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("#{:02x}{:02x}{:02x}", 225 + hash % 30, 150 + (hash >> 8U) % 80, 70 + (hash >> 16U) % 50);
}

class Drawing {
 public:
  Drawing(double scale, double bottom, std::uint64_t all) : scale_(scale), bottom_(bottom), all_(all) {}

  void draw(const std::string& name, const Box& box, std::size_t depth, double x) {
    const double width = static_cast<double>(box.calls) * scale_;
    if (width < kNarrowestBox) {
      ++left_out;
      return;
    }
    const double y = bottom_ - static_cast<double>(depth + 1) * kBoxHeight;
    const double share = 100 * static_cast<double>(box.calls) / static_cast<double>(all_);
    svg += fmt::format(
        "<g><title>{}: {} {} ({:.1f} %)</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "fill=\"{}\" stroke=\"#ffffff\"/>",
        xml_text(name), box.calls, box.calls == 1 ? "call" : "calls", share, x, y, width, kBoxHeight, colour_of(name));
    const auto letters = static_cast<std::size_t>(std::max(width - 6, 0.0) / kLetterWidth);
    if (letters >= 4) svg += svg_text(x + 3, y + 13, shortened_end(csv::printable(name), letters));
    svg += "</g>\n";
    for (const auto& [inner_name, inner] : box.inner) {
      draw(inner_name, inner, depth + 1, x);
      x += static_cast<double>(inner.calls) * scale_;
    }
  }

  std::string svg;
  std::size_t left_out = 0;  ///< Too narrow, with all that stands above them.

 private:
  double scale_;
  double bottom_;
  std::uint64_t all_;
};

}  // namespace

std::optional<FoldedStack> parse_folded(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  FoldedStack stack;
  const std::string_view number = line.substr(blank + 1);
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), stack.calls);
  // The sum of all lines must not overflow.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  if (error != std::errc() || rest != number.data() + number.size() || stack.calls > kMost) return std::nullopt;
  for (std::string_view frames = line.substr(0, blank);;) {
    const std::size_t end = std::min(frames.find(';'), frames.size());
    stack.frames.emplace_back(frames.substr(0, end));
    if (end == frames.size()) return stack;
    frames.remove_prefix(end + 1);
  }
}

std::string flame_svg(std::string_view title, const std::vector<FoldedStack>& stacks) {
  Box root;
  for (const FoldedStack& stack : stacks) add(root, stack);
  const std::size_t depth = 1 + depth_of(root);
  const double height = kTitleHeight + static_cast<double>(depth) * kBoxHeight + kMargin;
  const double scale = (kWidth - 2 * kMargin) / static_cast<double>(std::max<std::uint64_t>(root.calls, 1));
  Drawing drawing(scale, height - kMargin, std::max<std::uint64_t>(root.calls, 1));
  drawing.draw("all", root, 0, kMargin);
  std::string subtitle =
      fmt::format("{} call{}; a box is as wide as the calls from it are many", root.calls, root.calls == 1 ? "" : "s");
  if (drawing.left_out > 0) subtitle += fmt::format("; {} are too narrow to be drawn", drawing.left_out);
  return svg_head(kWidth, height) + svg_text(kMargin, 24, title, "font-size=\"15\" font-weight=\"600\"") +
         svg_text(kMargin, 42, subtitle, "fill=\"#555555\"") + drawing.svg + "</svg>\n";
}

}  // namespace syscost::bench::render
