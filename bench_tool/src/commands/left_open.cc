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

std::string descriptors(const WindowSummary& window) {
  std::string text = many(window.descriptors_left->max, "descriptor", "descriptors");
  std::string list;
  for (const std::string_view one : window.left_open) list += (list.empty() ? "" : " | ") + std::string(one);
  for (std::size_t at = 0; (at = list.find(';', at)) != std::string::npos; at += 2) list.replace(at, 1, ", ");
  return list.empty() ? text : text + " (" + list + ")";
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
  add(window.threads_left, many(most(window.threads_left), "thread", "threads"));
  add(window.children_left, many(most(window.children_left), "child process", "child processes"));
  return text;
}

}  // namespace

std::string left_things(const WindowSummary& window) {
  return things(window, false);
}

std::string left_details(const WindowSummary& window) {
  if (!window.descriptors_left || !window.threads_left) return {};
  std::string text = descriptors(window) + ", " + many(window.threads_left->max, "thread", "threads") + ", ";
  text += window.children_left ? many(window.children_left->max, "child", "children") : "children n/a";
  if (window.mapped_bytes_left) text += ", mappings grew by " + render::bytes(window.mapped_bytes_left->median);
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
