// SPDX-License-Identifier: MIT
#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "render/numbers.h"
#include "render/output_file.h"
#include "render/svg.h"
#include "report/page_files.h"

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

namespace {

unsigned digit_of(char hex) {
  return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/// A hash as CSP writes it, of one in hexadecimal digits.
std::string csp_hash(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit_of(hex[i]) * 16 + digit_of(hex[i + 1]));
  return fmt::format("'sha256-{}'", base64(bytes));
}

std::string head(const Page& page) {
  return fmt::format(
      "<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {} {}; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta name=\"generator\" content=\"syscost {}\">\n"
      "<title>{}</title>\n<style>{}</style>\n<script>{}</script>\n</head>\n",
      csp_hash(kStyleHash), csp_hash(kEarlyScriptHash), csp_hash(kScriptHash), SYSCOST_VERSION, text(page.title),
      kStyle, kEarlyScript);
}

}  // namespace

std::string html_of(const Page& page) {
  std::string out = std::string(kPageBeginning) + '\n' + head(page) + "<body>\n<header>\n";
  out += fmt::format("<h1>{}</h1>\n", text(page.title));
  for (const std::string& line : page.below_title) out += fmt::format("<p class=\"source\">{}</p>\n", text(line));
  out += "</header>\n<nav aria-label=\"Sections\">";
  const auto attribute = [](const Section& section) { return section.is_static_only ? " class=\"static-only\"" : ""; };
  for (const Section& section : page.sections) {
    if (section.html.empty()) continue;
    out += fmt::format("<a{} href=\"#{}\">{}</a>\n", attribute(section), section.id, text(section.title));
  }
  out += "</nav>\n<main>\n";
  for (const Section& section : page.sections) {
    if (section.html.empty()) continue;
    out += fmt::format("<section{} id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", attribute(section), section.id,
                       text(section.title), section.html);
  }
  return out + "</main>\n" + page.data + fmt::format("<script>{}</script>\n</body>\n</html>\n", kScript);
}

namespace {

/// Larger packs are smaller in sum, and slower to open.
constexpr std::size_t kCardsOfPack = 64;
/// Between cards, as page.js has it. No card can hold it: text() escapes control characters.
constexpr char kSeparator = '\x1e';

}  // namespace

std::string PackedCards::add(const std::string& card) {
  if (in_open_ == kCardsOfPack) close();
  if (in_open_ != 0) open_ += kSeparator;
  open_ += card;
  return fmt::format("p{}.{}", packs_, in_open_++);
}

std::string PackedCards::html() {
  if (in_open_ != 0) close();
  return html_;
}

void PackedCards::close() {
  html_ += fmt::format("<script type=\"text/plain\" id=\"p{}\">{}</script>\n", packs_, base64(render::gzip(open_)));
  ++packs_;
  in_open_ = 0;
  open_.clear();
}

}  // namespace syscost::bench::report
