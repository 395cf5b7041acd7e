// SPDX-License-Identifier: MIT
#include "render/markdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace syscost::bench::render {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

/// True if text[at] could begin or end markup: CommonMark's, GitHub's strikethrough, formulas and bare links.
bool is_markup(std::string_view text, std::size_t at) {
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  switch (text[at]) {
    case '\\':
    case '`':
    case '*':
    case '|':
    case '~':
    case '$':
      return true;
    case '_':  // inside a word it is a letter
      return at == 0 || !is_word(text[at - 1]) || !is_word(next);
    case ']':  // what stands in brackets is a link only where something follows
      return next == '(' || next == '[' || next == ':';
    case '<':
      return next == '/' || next == '!' || next == '?' || is_letter(next);
    case '&':
      return next == '#' || is_word(next);
    case ':':
      return next == '/';
    case '.':
      return at >= 3 && text.substr(at - 3, 3) == "www";
    default:
      return false;
  }
}

/// True if a name of a person or a team may follow, which GitHub would notify.
bool is_mention(std::string_view text, std::size_t at) {
  const bool begins = at == 0 || !is_word(text[at - 1]);
  return text[at] == '@' && begins && at + 1 < text.size() && is_word(text[at + 1]);
}

}  // namespace

std::string code_span(std::string_view name) {
  if (name.empty()) return {};
  const bool is_awkward =
      name.find_first_of("`|") != std::string_view::npos || name.front() == ' ' || name.back() == ' ';
  if (!is_awkward) return fmt::format("`{}`", name);
  // Backquotes cannot hold these characters everywhere. The HTML element can, and no character of the name is markup in
  // it.
  std::string out = "<code>";
  for (const char c : name) {
    if (is_word(c) || is_beyond_ascii(c)) {
      out += c;
    } else {
      out += fmt::format("&#{};", static_cast<int>(c));
    }
  }
  return out + "</code>";
}

std::string escaped_markdown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_markup(text, i)) out += '\\';
    out += text[i];
    // GitHub reads a mention from the text after its markup, so a backslash would not prevent it.
    if (is_mention(text, i)) out += "&#8203;";
  }
  return out;
}

std::string escaped_lines(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += escaped_markdown(lines.substr(0, end)) + '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

std::string code_block(std::string_view lines) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}\n{}{}\n", fence, lines, fence);
}

}  // namespace syscost::bench::render
