// SPDX-License-Identifier: MIT
#include "commands/shared/window_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/comparability.h"
#include "model/programs.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

constexpr std::size_t kMostNamedWindows = 3;

/// `A.x, B.y, C.z, ...`.
std::string some_of(std::vector<std::string> names) {
  const bool has_more = names.size() > kMostNamedWindows;
  if (has_more) names.resize(kMostNamedWindows);
  return fmt::format("{}{}", fmt::join(names, ", "), has_more ? ", ..." : "");
}

std::string number_of_tests(std::size_t count) {
  return fmt::format("{} test{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> loss_warnings(const stats::WindowSummary& window) {
  std::vector<std::string> out;
  if (window.lost.value_or(0) > 0) {
    out.push_back(fmt::format("warning: events lost: {}; every count here is a lower bound", *window.lost));
  }
  if (window.late.value_or(0) > 0) {
    out.push_back(
        fmt::format("warning: events that came after the window was read: {}; not in its counts", *window.late));
  }
  if (window.incomplete > 0) {
    out.push_back(fmt::format("warning: rows are missing in {} of {} repetitions; every count here is a lower bound",
                              window.incomplete, window.n));
  }
  // If nothing was counted, the empty table says so.
  if (window.uncounted > 0 && window.uncounted < window.n) {
    out.push_back(fmt::format("warning: {} of {} repetitions were not counted, so that nothing is known of all of them",
                              window.uncounted, window.n));
  }
  return out;
}

std::string lossy_tests_text(std::size_t tests) {
  return fmt::format("events or rows are missing in {}: counts are lower bounds", number_of_tests(tests));
}

std::string injected_line(std::uint64_t calls) {
  return fmt::format("{} call{} answered or changed by faults", calls, calls == 1 ? " was" : "s were");
}

void InjectedCalls::add(const stats::WindowSummary& window) {
  // A scope's calls are those of its test, too.
  if (!stats::has_altered(window) || !window.is_ours() || window.kind == "scope") return;
  calls_ += *window.altered;
  names_.push_back(window.name);
}

std::string InjectedCalls::text() const {
  if (calls_ == 0) return {};
  return fmt::format("{}, in {}: {}", injected_line(calls_), number_of_tests(names_.size()), some_of(names_));
}

std::string inject_rules(const model::Dataset& data) {
  const model::Facts facts = model::facts_of(data);
  const auto found = facts.find("inject");
  return found == facts.end() ? std::string() : model::joined(found->second);
}

std::vector<std::string> injected_warnings(const std::vector<judge::Comparison>& rows, const InjectedSide& before,
                                           const InjectedSide& after) {
  std::vector<std::string> of_before;
  std::vector<std::string> of_after;
  std::vector<std::string> of_both;
  for (const judge::Comparison& row : rows) {
    if (!row.is_paired() || !judge::differ_by_faults(*row.old_window, *row.new_window)) continue;
    std::vector<std::string>& names = !stats::has_altered(*row.old_window)   ? of_after
                                      : !stats::has_altered(*row.new_window) ? of_before
                                                                             : of_both;
    names.push_back(row.name);
  }
  std::vector<std::string> warnings;
  const auto warn = [&](const std::vector<std::string>& names, const std::string& where) {
    if (names.empty()) return;
    warnings.push_back(fmt::format("faults answered or changed calls of {} {}, so that they are not compared: {}",
                                   number_of_tests(names.size()), where, some_of(names)));
  };
  const auto alone = [](const InjectedSide& side) {
    return fmt::format("in {} alone{}", side.name, side.rules.empty() ? "" : fmt::format(" (inject {})", side.rules));
  };
  const auto rules = [](const InjectedSide& side) { return side.rules.empty() ? std::string("none") : side.rules; };
  warn(of_before, alone(before));
  warn(of_after, alone(after));
  warn(of_both, fmt::format("by other rules (inject {} -> {})", rules(before), rules(after)));
  return warnings;
}

namespace {

using stats::Numbers;
using stats::WindowSummary;

std::string many(double count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", render::count(count), count == 1 ? one : more);
}

/// The entries of the list with this word in front, in brackets; descriptors have none. A repetition that left
/// others comes after a bar.
std::string listed(const WindowSummary& window, std::string_view word) {
  std::string text;
  for (std::string_view rest : window.unclosed) {
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

namespace {

using Names = std::span<const std::string_view>;

// As the columns total_bytes_read and total_bytes_written: plugin/src/core/tables/bytes_moved.inc.
constexpr std::array<std::string_view, 9> kReads = {"read",     "pread64", "readv",     "preadv",          "preadv2",
                                                    "recvfrom", "recvmsg", "getrandom", "process_vm_readv"};
constexpr std::array<std::string_view, 9> kWrites = {"write",  "pwrite64", "writev",   "pwritev",          "pwritev2",
                                                     "sendto", "sendmsg",  "vmsplice", "process_vm_writev"};
constexpr std::array<std::string_view, 5> kBoth = {"sendfile", "sendfile64", "splice", "tee", "copy_file_range"};
constexpr std::array<std::string_view, 3> kWithoutFile = {"getrandom", "process_vm_readv", "process_vm_writev"};

constexpr std::array<std::string_view, 10> kKinds = {"file",     "directory",        "pipe",         "socket",
                                                     "terminal", "character device", "block device", "other",
                                                     "unknown",  "bad descriptor"};

bool is_among(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A row's name, without the words about its thread.
struct Moves {
  std::string_view syscall;
  std::string_view from;
  std::string_view to;  ///< The same as `from` if there is one file.
  bool has_kind = false;
};

Moves moves_of(std::string_view name) {
  constexpr std::string_view kOfDriver = "driver thread: ";
  constexpr std::string_view kTo = " to ";
  constexpr std::string_view kUnknown = "unknown";
  constexpr std::string_view kNoFile = "no file";
  Moves moves;
  const std::size_t blank = name.find(' ');
  moves.syscall = name.substr(name.find(':') < blank ? name.find(':') + 1 : 0);  // i386:read
  moves.syscall = moves.syscall.substr(0, moves.syscall.find(' '));
  std::string_view detail = blank == std::string_view::npos ? std::string_view() : name.substr(blank + 1);
  if (detail.starts_with(kOfDriver)) detail.remove_prefix(kOfDriver.size());
  const std::size_t between = detail.find(kTo);
  moves.from = detail.substr(0, between);
  moves.to = between == std::string_view::npos ? moves.from : detail.substr(between + kTo.size());
  moves.has_kind = is_among(kKinds, moves.from) && is_among(kKinds, moves.to);
  if (!moves.has_kind) moves.from = moves.to = is_among(kWithoutFile, moves.syscall) ? kNoFile : kUnknown;
  return moves;
}

using Sums = std::map<std::string_view, double>;

std::string text_of(std::string_view way, const Sums& sums) {
  double total = 0;
  for (const auto& [kind, bytes] : sums) total += bytes;
  if (total == 0) return {};
  std::vector<std::pair<std::string_view, double>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = fmt::format("{} {}: ", way, render::bytes(total));
  bool is_first = true;
  for (const auto& [kind, bytes] : order) {
    if (bytes == 0) continue;
    text += fmt::format("{}{} {}", std::exchange(is_first, false) ? "" : ", ", render::bytes(bytes), kind);
  }
  return text;
}

}  // namespace

std::string bytes_by_kind(std::span<const MovedBytes> rows) {
  Sums read;
  Sums written;
  bool has_kinds = false;
  for (const MovedBytes& row : rows) {
    const Moves moves = moves_of(row.name);
    const bool is_both = is_among(kBoth, moves.syscall);
    const bool is_read = is_both || is_among(kReads, moves.syscall);
    const bool is_written = is_both || is_among(kWrites, moves.syscall);
    has_kinds = has_kinds || ((is_read || is_written) && moves.has_kind);
    if (is_read) read[moves.from] += row.bytes;
    if (is_written) written[moves.to] += row.bytes;
  }
  if (!has_kinds) return {};
  std::string text = text_of("read", read);
  const std::string rest = text_of("written", written);
  return text.empty() || rest.empty() ? text + rest : text + "; " + rest;
}

}  // namespace syscost::bench::commands
