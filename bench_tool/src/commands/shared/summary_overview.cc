// SPDX-License-Identifier: MIT
#include "commands/shared/summary_overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "commands/shared/window_notes.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"
#include "stats/window_summary.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using stats::WindowSummary;

/// A screen of 24 lines shows so many syscalls, waits and tests. They share the further lines of a higher screen.
constexpr std::size_t kUsualHeight = 24;
constexpr std::size_t kFewSyscalls = 4;
constexpr std::size_t kFewWaits = 2;
constexpr std::size_t kFewTests = 6;

void add(std::optional<double>& sum, const std::optional<double>& number) {
  sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
}

bool is_listed(const WindowSummary& window) {
  return window.kind != "scope" && window.kind != schema::kKindGpuKernel;
}

/// How many lines each part of the overview has; 0: any number.
struct Room {
  std::size_t syscalls = 0;
  std::size_t waits = 0;
  std::size_t tests = 0;
};

Room room_for(const cli::Options& options) {
  Room room;
  if (const std::size_t height = options.screen.height; height != 0) {
    const std::size_t more = height > kUsualHeight ? height - kUsualHeight : 0;
    room = {kFewSyscalls + more / 3, kFewWaits + more / 12, kFewTests + more - more / 3 - more / 12};
  }
  if (options.top) room = {*options.top, *options.top, *options.top};
  return room;
}

}  // namespace

bool comes_first(const OverviewLine& a, const OverviewLine& b, const std::string& key) {
  if (key == "name") return a.name < b.name;
  const auto number = [&](const OverviewLine& line) {
    const std::optional<double>& field = key == "kernel"   ? line.work_ns
                                         : key == "waits"  ? line.wait_ns
                                         : key == "calls"  ? line.calls
                                         : key == "errors" ? line.errors
                                                           : line.wall_ns;
    return field.value_or(-1);
  };
  const bool by_failure = key == "worst" || key.empty();
  return std::tuple(by_failure && a.has_failed, number(a)) > std::tuple(by_failure && b.has_failed, number(b));
}

void LeavingWindows::add(const std::string& window, const std::string& left) {
  constexpr std::size_t kMostNamed = 5;
  if (left.empty()) return;
  if (++count_ <= kMostNamed) first_ += (first_.empty() ? "" : "; ") + window + ": " + left;
  if (count_ == kMostNamed + 1) first_ += "; ...";
}

std::string LeavingWindows::text() const {
  if (count_ == 0) return {};
  return fmt::format("{} test{} (--details has the descriptors): {}", count_, count_ == 1 ? "" : "s", first_);
}

void Overview::add(const WindowSummary& window) {
  if (window.kind == "test") {
    ++tests_;
    for (const std::string word : {"failed", "skipped"}) {
      if (window.outcomes.contains(word)) ++outcomes_[word];
    }
  }
  if (window.is_lower_bound()) ++lossy_;
  filters_.add(window);
  has_repetitions_ = has_repetitions_ || window.n > 1;
  add_leaks(window);
  injected_.add(window);
  if (stats::adds_up(window)) add_totals(window);
  if (!is_listed(window)) return;
  const bool is_quiet = window.kind == "test" && window.syscalls.empty() && (window.calls || window.entries) &&
                        window.incomplete == 0 && stats::outcome_text(window).empty();
  if (is_quiet) {
    ++quiet_tests_;
    commands::add(quiet_wall_ns_, render::median(window.wall_ns));
    return;
  }
  lines_.push_back(overview_line(window));
}

void Overview::add_totals(const WindowSummary& window) {
  has_totals_ = true;
  commands::add(wall_ns_, render::median(window.wall_ns));
  commands::add(work_ns_, render::median(window.work_ns));
  commands::add(wait_ns_, render::median(window.wait_ns));
  commands::add(bytes_read_, render::median(window.bytes_read));
  commands::add(bytes_written_, render::median(window.bytes_written));
  for (const stats::SyscallSummary& one : window.syscalls) {
    SyscallTotal& total = syscalls_[one.name];
    total.name = one.name;
    total.is_wait = one.is_wait;
    total.has_calls = total.has_calls || one.calls;
    total.has_entries = total.has_entries || (!one.calls && one.entries);
    commands::add(total.calls, render::median(one.count()));
    commands::add(total.errors, render::median(one.errors));
    commands::add(total.kernel_ns, render::median(one.kernel_ns));
    if (!one.errnos) continue;
    for (const auto& [name, spread] : *one.errnos) total.errnos[name] += spread.median;
  }
}

void Overview::add_leaks(const WindowSummary& window) {
  if (!window.is_ours()) return;
  const LeftInTurns left = left_in_turns(window);
  leaves_again_.add(window.name, left.again);
  leaves_once_.add(window.name, left.once);
  leaves_unknown_.add(window.name, left.unknown);
}

std::string Overview::totals_line() const {
  std::string line = fmt::format("{} test{}", tests_, tests_ == 1 ? "" : "s");
  for (const auto& [outcome, times] : outcomes_) line += fmt::format(", {} {}", times, outcome);
  if (!has_totals_) return line;
  line += fmt::format("  wall {}  ", duration(wall_ns_));
  if (const std::string part = filters_.part(); !part.empty()) line += part + ": ";
  line += "kernel " + duration(work_ns_);
  if (work_ns_ && wall_ns_ && *wall_ns_ > 0) line += fmt::format(" ({} %)", share(work_ns_, wall_ns_));
  line += "  waits " + duration(wait_ns_);
  if (bytes_read_.value_or(0) > 0) line += "  read " + render::bytes(*bytes_read_);
  if (bytes_written_.value_or(0) > 0) line += "  written " + render::bytes(*bytes_written_);
  return line + (has_repetitions_ ? "  (medians)" : "");
}

std::string Overview::syscall_table(bool waits, std::size_t most, std::size_t width, bool markdown) const {
  std::vector<SyscallTotal> lines;
  SyscallTotal all{.name = "total"};
  const auto add_to = [](SyscallTotal& sum, const SyscallTotal& one) {
    commands::add(sum.kernel_ns, one.kernel_ns);
    commands::add(sum.calls, one.calls);
    commands::add(sum.errors, one.errors);
  };
  for (const auto& [name, total] : syscalls_) {
    if (total.is_wait != waits) continue;
    lines.push_back(total);
    add_to(all, total);
  }
  if (lines.empty()) return {};
  std::stable_sort(lines.begin(), lines.end(), [](const SyscallTotal& a, const SyscallTotal& b) {
    const auto key = [](const SyscallTotal& total) {
      return std::pair(total.kernel_ns.value_or(-1), total.calls.value_or(-1));
    };
    return key(a) > key(b);
  });
  const bool has_total = !waits && lines.size() > 1;
  if (most != 0 && lines.size() > most + 1) {
    SyscallTotal others{.name = fmt::format("{} others", lines.size() - most)};
    for (std::size_t i = most; i < lines.size(); ++i) add_to(others, lines[i]);
    lines.resize(most);
    lines.push_back(others);
  }
  if (has_total) lines.push_back(all);
  const render::Table table = totals_table(lines, all.kernel_ns, waits);
  return markdown ? table.markdown() : table.text(2, 2, width);
}

std::string Overview::text(const std::string& source, const std::vector<std::string>& crashes,
                           const cli::Options& options, bool markdown, const render::Paint& paint) const {
  const Room room = room_for(options);
  const std::size_t width = options.screen.width;
  const auto line = [&](const std::string& text) {
    return markdown ? render::escaped_markdown(text) + "\n\n" : render::wrapped(text, width, 2) + '\n';
  };
  std::string out;
  out += markdown ? line(source) : paint.dim(width == 0 ? source : render::shortened_end(source, width)) + '\n';
  if (tests_ != 0 || has_totals_) out += line(totals_line());
  for (const std::string& crash : crashes) {
    out += markdown ? line(crash) : paint.red(render::wrapped(crash, width, 2)) + '\n';
  }
  if (lossy_ != 0) {
    const std::string warning = "warning: " + lossy_tests_text(lossy_) + " (--details)";
    out += markdown ? line(warning) : paint.yellow(warning) + '\n';
  }
  if (const std::string injected = injected_.text(); !injected.empty()) out += line(injected);
  for (const bool waits : {false, true}) {
    const std::string table = syscall_table(waits, waits ? room.waits : room.syscalls, width, markdown);
    if (!table.empty()) out += (markdown || waits ? "" : "\n") + table + (markdown ? "\n" : "");
  }
  for (const bool has_unit : {false, true}) {
    std::vector<const OverviewLine*> rows;
    for (const OverviewLine& one : lines_) {
      if (one.unit.empty() != has_unit) rows.push_back(&one);
    }
    if (rows.empty()) continue;
    if (options.sort != "file") {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](const OverviewLine* a, const OverviewLine* b) { return comes_first(*a, *b, options.sort); });
    }
    const std::size_t most =
        has_unit && !options.top && room.tests != 0 && lines_.size() != rows.size() ? room.tests / 2 : room.tests;
    const std::size_t shown = most == 0 ? rows.size() : std::min(most, rows.size());
    const std::size_t hidden = rows.size() - shown;
    rows.resize(shown);
    const bool is_wide = markdown || width == 0 || width >= render::kWideScreen;
    const render::Table table =
        tests_table(rows, is_wide, [&](const std::string& outcome) { return markdown ? outcome : paint.red(outcome); });
    out += (markdown ? "" : "\n") + (markdown ? table.markdown() + '\n' : table.text(2, 2, width));
    if (hidden != 0) {
      out += line(fmt::format("and {} more: --top 0, --sort KEY, --test PATTERN", hidden));
    }
  }
  if (const std::string left = leaves_again_.text(); !left.empty()) {
    out += line("left open again when repeated, by " + left);
  }
  if (const std::string left = leaves_once_.text(); !left.empty()) {
    out += line("left open once in a process, by " + left);
  }
  if (const std::string left = leaves_unknown_.text(); !left.empty()) {
    out += line("left open by " + left);
    out += line(fmt::format("  a process may make some of it once and keep it on purpose: {}", kHowToTell));
  }
  if (quiet_tests_ != 0) {
    const std::string none = filters_.is_everything()    ? "a syscall"
                             : filters_.common().empty() ? "a counted call"
                                                         : "calls of " + filters_.common();
    out += line(fmt::format("{} test{} without {}, wall {}{}", quiet_tests_, quiet_tests_ == 1 ? "" : "s", none,
                            duration(quiet_wall_ns_), quiet_tests_ == 1 ? "" : " together"));
  }
  return out;
}

}  // namespace syscost::bench::commands
