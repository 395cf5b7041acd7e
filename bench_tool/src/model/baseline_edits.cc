// SPDX-License-Identifier: MIT
//
// Puts windows into the text of a baseline, and takes them out, line by line: what else is there stays as it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "csv/text.h"
#include "model/baseline.h"

namespace syscost::bench::model {
namespace {

constexpr std::string_view kClassLine = "class";

using WindowKey = std::tuple<std::string_view, std::string_view, std::string_view>;

WindowKey window_key(const BaselineWindow& window) {
  return {window.program, window.name, window.kind};
}

/// The first line of `text`, with its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

/// The first five fields of a line; what is missing is empty.
std::array<std::string_view, 5> fields_of(std::string_view line) {
  std::array<std::string_view, 5> fields;
  if (line.ends_with('\n')) line.remove_suffix(1);
  for (std::string_view& field : fields) {
    const std::size_t end = std::min(line.find('\t'), line.size());
    field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

/// The head, with a line for each of `classes` that it lacks.
std::string head_of(std::string_view head, const std::map<std::string, std::string>& classes) {
  std::map<std::string, std::string> missing = classes;
  for (std::string_view rest = head; !rest.empty();) {
    const auto fields = fields_of(take_line(rest));
    if (fields[0] == kClassLine) missing.erase(std::string(fields[1]));
  }
  std::string out;
  const auto add_up_to = [&](std::string_view syscall) {
    while (!missing.empty() && (syscall.empty() || missing.begin()->first < syscall)) {
      out += fmt::format("{}\t{}\t{}\n", kClassLine, missing.begin()->first, missing.begin()->second);
      missing.erase(missing.begin());
    }
  };
  while (!head.empty()) {
    const std::string_view line = take_line(head);
    const auto fields = fields_of(line);
    if (fields[0] == kClassLine) add_up_to(fields[1]);
    out += line;
  }
  add_up_to("");
  return out;
}

/// `text` with `to` in the place of each line end `from`.
std::string with_line_ends(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t end; (end = text.find(from)) != std::string_view::npos; text.remove_prefix(end + from.size())) {
    out.append(text.substr(0, end)).append(to);
  }
  return out.append(text);
}

}  // namespace

std::string edited(std::string_view text, const BaselineTold& told, std::vector<BaselineEdit> edits,
                   const std::map<std::string, std::string>& classes) {
  // What another program added when it saved the file stays, too.
  constexpr std::string_view kReturn = "\r\n";
  const std::string_view unmarked = csv::without_byte_order_mark(text);
  if (unmarked.size() != text.size()) {
    return fmt::format("{}{}", csv::kByteOrderMark, edited(unmarked, told, std::move(edits), classes));
  }
  if (text.find(kReturn) != std::string_view::npos) {
    return with_line_ends(edited(with_line_ends(text, kReturn, "\n"), told, std::move(edits), classes), "\n", kReturn);
  }
  std::sort(edits.begin(), edits.end(),
            [](const BaselineEdit& a, const BaselineEdit& b) { return window_key(a.window) < window_key(b.window); });
  std::size_t head_end = text.find("\n\n");
  head_end = head_end == std::string_view::npos ? text.size() : head_end + 1;
  std::string out = head_of(text.substr(0, head_end), classes);
  if (head_end == text.size()) out += '\n';  // the end of the head
  text.remove_prefix(head_end);
  std::set<WindowKey> known;
  for (std::string_view rest = text; !rest.empty();) {
    const auto fields = fields_of(take_line(rest));
    if (fields[3] == "window") known.emplace(fields[0], fields[1], fields[4].substr(0, fields[4].find(' ')));
  }
  auto next = edits.begin();  // the first new window that is not written yet
  const auto add_new_up_to = [&](const WindowKey* key) {
    for (; next != edits.end() && (key == nullptr || window_key(next->window) < *key); ++next) {
      if (!next->is_removal && !known.contains(window_key(next->window))) out += lines_of(next->window, told);
    }
  };
  bool is_replaced = false;  // true while the lines belong to a window that is replaced
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto fields = fields_of(line);
    if (fields[3] == "window") {
      const WindowKey key = {fields[0], fields[1], fields[4].substr(0, fields[4].find(' '))};
      add_new_up_to(&key);
      const auto edit = std::find_if(edits.begin(), edits.end(),
                                     [&](const BaselineEdit& one) { return window_key(one.window) == key; });
      is_replaced = edit != edits.end();
      if (is_replaced && !edit->is_removal) out += lines_of(edit->window, told);
    }
    if (!is_replaced || line == "\n") out += line;
  }
  add_new_up_to(nullptr);
  return out;
}

}  // namespace syscost::bench::model
