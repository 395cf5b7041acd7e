// SPDX-License-Identifier: MIT
#include "report/page.h"

#include <fmt/format.h>

#include "report/html.h"
#include "report/page_files.h"

namespace syscost::bench::report {
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

}  // namespace syscost::bench::report
