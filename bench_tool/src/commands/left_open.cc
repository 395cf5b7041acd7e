// SPDX-License-Identifier: MIT
#include "commands/left_open.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using stats::Numbers;
using stats::WindowSummary;

std::string many(double count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", render::count(count), count == 1 ? one : more);
}

/// What the list says of the things with this word in front, in brackets; descriptors have none. A repetition that left
/// others comes after a bar.
std::string listed(const WindowSummary& window, std::string_view word) {
  std::string text;
  for (std::string_view rest : window.left_open) {
    std::string list;
    while (!rest.empty()) {
      std::string_view one = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      const bool is_started = one.starts_with("thread ") || one.starts_with("child ");
      if (word.empty() ? is_started : !one.starts_with(word)) continue;
      one.remove_prefix(word.size());
      list += (list.empty() ? "" : ", ") + std::string(one);
    }
    if (!list.empty()) text += (text.empty() ? "" : " | ") + list;
  }
  return text.empty() ? text : " (" + text + ")";
}

std::string descriptors(const WindowSummary& window) {
  return many(window.descriptors_left->max, "descriptor", "descriptors") + listed(window, "");
}

std::string things(const WindowSummary& window, bool has_list) {
  std::string text;
  const auto add = [&](const Numbers& left, const std::string& words) {
    if (left && left->max > 0) text += (text.empty() ? "" : ", ") + words;
  };
  const auto most = [](const Numbers& left) { return left ? left->max : 0; };
  const double count = most(window.descriptors_left);
  if (count > 0)
    add(window.descriptors_left, has_list ? descriptors(window) : many(count, "descriptor", "descriptors"));
  const auto lines = [&](std::string_view word) { return has_list ? listed(window, word) : std::string(); };
  add(window.threads_left, many(most(window.threads_left), "thread", "threads") + lines("thread "));
  add(window.children_left, many(most(window.children_left), "child process", "child processes") + lines("child "));
  return text;
}

}  // namespace

std::string left_things(const WindowSummary& window) {
  return things(window, false);
}

std::string left_details(const WindowSummary& window) {
  if (!window.descriptors_left || !window.threads_left) return {};
  std::string text = descriptors(window) + ", " + many(window.threads_left->max, "thread", "threads");
  text += listed(window, "thread ") + ", ";
  text += window.children_left ? many(window.children_left->max, "child", "children") + listed(window, "child ")
                               : "children n/a";
  if (window.mapped_bytes_left) text += ", mappings grew by " + render::bytes(window.mapped_bytes_left->median);
  if (window.peak_mapped_bytes) text += ", at most by " + render::bytes(window.peak_mapped_bytes->max) + " at one time";
  return text;
}

std::string left_remark(const WindowSummary& window) {
  std::string text = things(window, true);
  if (text.empty()) return {};
  const auto is_each = [](const Numbers& left) { return !left || left->max == 0 || left->min > 0; };
  if (window.n > 1) {
    const bool in_each =
        is_each(window.descriptors_left) && is_each(window.threads_left) && is_each(window.children_left);
    text += in_each ? fmt::format("; in each of {} repetitions", window.n)
                    : fmt::format("; not in each of {} repetitions", window.n);
  }
  return "left open: " + text;
}

}  // namespace syscost::bench::commands
