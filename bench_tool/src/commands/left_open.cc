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

/// Those of which there are any.
std::string things(double descriptors, double threads, double children) {
  std::string text;
  const auto add = [&](double count, std::string_view one, std::string_view more) {
    if (count > 0) text += (text.empty() ? "" : ", ") + many(count, one, more);
  };
  add(descriptors, "descriptor", "descriptors");
  add(threads, "thread", "threads");
  add(children, "child process", "child processes");
  return text;
}

/// Which of them are left again when the process runs the window again; "" if nothing was left.
std::string turns(const WindowSummary& window) {
  const LeftInTurns left = left_in_turns(window);
  if (left.once.empty() && left.unknown.empty()) {
    if (left.again.empty()) return {};
    const auto is_each = [](const Numbers& one) { return !one || one->max == 0 || one->min > 0; };
    const bool in_each =
        is_each(window.descriptors_left) && is_each(window.threads_left) && is_each(window.children_left);
    return fmt::format("; {}in each of {} repetitions", in_each ? "" : "not ", window.n);
  }
  std::string text;
  if (!left.again.empty()) text += "; again when repeated: " + left.again;
  if (!left.once.empty()) text += "; only at its first run in a process: " + left.once;
  if (!left.unknown.empty()) {
    text += "; it ran once in its process, which may keep ";
    text += left.again.empty() && left.once.empty() ? "it on purpose" : left.unknown + " on purpose";
    text += fmt::format(" ({})", kHowToTell);
  }
  return text;
}

}  // namespace

LeftInTurns left_in_turns(const WindowSummary& window) {
  const auto of = [&](double stats::LeftByTurn::*turn) {
    return things(window.descriptors_by_turn.*turn, window.threads_by_turn.*turn, window.children_by_turn.*turn);
  };
  return {of(&stats::LeftByTurn::again), of(&stats::LeftByTurn::once), of(&stats::LeftByTurn::unknown)};
}

std::string left_details(const WindowSummary& window) {
  if (!window.descriptors_left || !window.threads_left) return {};
  std::string text = descriptors(window) + ", " + many(window.threads_left->max, "thread", "threads");
  text += listed(window, "thread ") + ", ";
  text += window.children_left ? many(window.children_left->max, "child", "children") + listed(window, "child ")
                               : "children n/a";
  if (window.mapped_bytes_left) text += ", mappings grew by " + render::bytes(window.mapped_bytes_left->median);
  if (window.peak_mapped_bytes) text += ", at most by " + render::bytes(window.peak_mapped_bytes->max) + " at one time";
  return text + turns(window);
}

std::string left_remark(const WindowSummary& window) {
  std::string text;
  const auto add = [&](const Numbers& left, std::string_view one, std::string_view more, std::string_view word) {
    if (!left || left->max == 0) return;
    text += (text.empty() ? "" : ", ") + many(left->max, one, more) + listed(window, word);
  };
  add(window.descriptors_left, "descriptor", "descriptors", "");
  add(window.threads_left, "thread", "threads", "thread ");
  add(window.children_left, "child process", "child processes", "child ");
  return text.empty() ? text : "left open: " + text + turns(window);
}

}  // namespace syscost::bench::commands
