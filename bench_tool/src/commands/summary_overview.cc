// SPDX-License-Identifier: MIT
#include "commands/summary_overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "render/markdown.h"
#include "render/table.h"
#include "render/text_width.h"
#include "render/units.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using render::Cells;
using render::Shrinks;
using stats::WindowSummary;

/// Of a screen of 24 lines: so many syscalls, waits and tests. What a higher one has is theirs as well.
constexpr std::size_t kUsualHeight = 24;
constexpr std::size_t kFewSyscalls = 4;
constexpr std::size_t kFewWaits = 2;
constexpr std::size_t kFewTests = 6;

std::optional<double> median(const stats::Numbers& numbers) {
  return numbers ? std::optional(numbers->median) : std::nullopt;
}

void add(std::optional<double>& sum, const std::optional<double>& number) {
  sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
}

std::string duration(const std::optional<double>& ns) {
  return ns ? render::duration(*ns) : render::kNotMeasured;
}

std::string count(const std::optional<double>& number) {
  return number ? render::count(*number) : render::kNotMeasured;
}

/// Blank for none, as strace prints it.
std::string errors(const std::optional<double>& number) {
  return number && *number == 0 ? "" : count(number);
}

std::string share(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole && *whole > 0 ? fmt::format("{:.1f}", 100 * *part / *whole) : render::kNotMeasured;
}

/// Windows that are counted once each, so that they add up: a scope lies in its test, a loop's numbers are of a pass.
bool adds_up(const WindowSummary& window) {
  const bool is_whole = window.kind == "test" || window.is_set_up() || window.kind == "process";
  return is_whole && window.is_ours() && !window.is_per_iteration;
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

OverviewLine overview_line(const WindowSummary& window) {
  OverviewLine line;
  line.name = window.name;
  line.outcome = stats::outcome_text(window);
  line.has_failed = window.outcomes.contains("failed");
  line.is_per_pass = window.is_per_iteration;
  line.wall_ns = median(window.wall_ns);
  line.work_ns = median(window.work_ns);
  line.wait_ns = median(window.wait_ns);
  line.calls = median(window.calls ? window.calls : window.entries);
  line.errors = median(window.errors);
  if (!window.syscalls.empty()) line.mostly = window.syscalls.front().name;
  return line;
}

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

void Overview::add(const WindowSummary& window) {
  if (window.kind == "test") {
    ++tests_;
    for (const std::string word : {"failed", "skipped"}) {
      if (window.outcomes.contains(word)) ++outcomes_[word];
    }
  }
  if (window.lost.value_or(0) > 0 || window.late.value_or(0) > 0 || window.incomplete > 0) ++lossy_;
  has_repetitions_ = has_repetitions_ || window.n > 1;
  if (adds_up(window)) add_totals(window);
  if (!is_listed(window)) return;
  const bool is_quiet = window.kind == "test" && window.syscalls.empty() && (window.calls || window.entries) &&
                        window.incomplete == 0 && stats::outcome_text(window).empty();
  if (is_quiet) {
    ++quiet_tests_;
    commands::add(quiet_wall_ns_, median(window.wall_ns));
    return;
  }
  lines_.push_back(overview_line(window));
}

void Overview::add_totals(const WindowSummary& window) {
  has_totals_ = true;
  commands::add(wall_ns_, median(window.wall_ns));
  commands::add(work_ns_, median(window.work_ns));
  commands::add(wait_ns_, median(window.wait_ns));
  for (const stats::SyscallSummary& one : window.syscalls) {
    Total& total = syscalls_[one.name];
    total.is_wait = one.is_wait;
    commands::add(total.calls, median(one.count()));
    commands::add(total.errors, median(one.errors));
    commands::add(total.kernel_ns, median(one.kernel_ns));
    for (const auto& [name, spread] : one.errnos) total.errnos[name] += spread.median;
  }
}

std::string Overview::totals_line() const {
  std::string line = fmt::format("{} test{}", tests_, tests_ == 1 ? "" : "s");
  for (const auto& [outcome, times] : outcomes_) line += fmt::format(", {} {}", times, outcome);
  if (!has_totals_) return line;
  line += fmt::format("  wall {}  kernel {}", duration(wall_ns_), duration(work_ns_));
  if (work_ns_ && wall_ns_ && *wall_ns_ > 0) line += fmt::format(" ({} %)", share(work_ns_, wall_ns_));
  line += "  waits " + duration(wait_ns_);
  return line + (has_repetitions_ ? "  (medians)" : "");
}

std::string Overview::syscall_table(bool waits, std::size_t most, std::size_t width, bool markdown) const {
  std::vector<std::pair<std::string, const Total*>> rows;
  Total all;
  for (const auto& [name, total] : syscalls_) {
    if (total.is_wait != waits) continue;
    rows.emplace_back(name, &total);
    commands::add(all.kernel_ns, total.kernel_ns);
    commands::add(all.calls, total.calls);
    commands::add(all.errors, total.errors);
  }
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const auto key = [](const Total& total) {
      return std::pair(total.kernel_ns.value_or(-1), total.calls.value_or(-1));
    };
    return key(*a.second) > key(*b.second);
  });
  render::Table table({{waits ? "% of waits" : "% of work", Align::right},
                       {waits ? "blocked" : "kernel", Align::right},
                       {"each", Align::right},
                       {"calls", Align::right},
                       {"errors", Align::right},
                       {waits ? "wait" : "syscall", Align::left, Cells::text, Shrinks::in_the_middle},
                       {"errnos", Align::left, Cells::text, Shrinks::at_the_end}});
  const auto add_row = [&](const std::string& name, const Total& total) {
    std::vector<std::pair<double, std::string>> errnos;
    for (const auto& [errno_name, number] : total.errnos) {
      if (number > 0) errnos.emplace_back(-number, errno_name);
    }
    std::sort(errnos.begin(), errnos.end());
    std::string named;
    for (const auto& [number, errno_name] : errnos) {
      named += fmt::format("{}{} {}", named.empty() ? "" : ", ", render::count(-number), errno_name);
    }
    const bool has_each = total.kernel_ns && total.calls && *total.calls > 0;
    table.add_row({share(total.kernel_ns, all.kernel_ns), duration(total.kernel_ns),
                   has_each ? render::duration(*total.kernel_ns / *total.calls) : "", count(total.calls),
                   errors(total.errors), name, named});
  };
  const std::size_t shown = most == 0 || rows.size() <= most + 1 ? rows.size() : most;
  Total others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < shown) {
      add_row(rows[i].first, *rows[i].second);
      continue;
    }
    commands::add(others.kernel_ns, rows[i].second->kernel_ns);
    commands::add(others.calls, rows[i].second->calls);
    commands::add(others.errors, rows[i].second->errors);
  }
  if (shown != rows.size()) add_row(fmt::format("{} others", rows.size() - shown), others);
  if (!waits && rows.size() > 1) add_row("total", all);
  return markdown ? table.markdown() : table.text(2, 2, width);
}

std::string Overview::text(const std::string& source, const cli::Options& options, bool markdown,
                           const render::Paint& paint) const {
  const Room room = room_for(options);
  const std::size_t width = options.screen.width;
  const auto line = [&](const std::string& text) {
    return markdown ? render::escaped_markdown(text) + "\n\n" : render::wrapped(text, width, 2) + '\n';
  };
  std::string out;
  out += markdown ? line(source) : paint.dim(width == 0 ? source : render::shortened_end(source, width)) + '\n';
  if (tests_ != 0 || has_totals_) out += line(totals_line());
  if (lossy_ != 0) {
    const std::string warning =
        fmt::format("warning: events or rows are missing in {} test{}: counts are lower bounds (--details)", lossy_,
                    lossy_ == 1 ? "" : "s");
    out += markdown ? line(warning) : paint.yellow(warning) + '\n';
  }
  for (const bool waits : {false, true}) {
    const std::string table = syscall_table(waits, waits ? room.waits : room.syscalls, width, markdown);
    if (!table.empty()) out += (markdown || waits ? "" : "\n") + table + (markdown ? "\n" : "");
  }
  for (const bool is_per_pass : {false, true}) {
    std::vector<const OverviewLine*> rows;
    for (const OverviewLine& one : lines_) {
      if (one.is_per_pass == is_per_pass) rows.push_back(&one);
    }
    if (rows.empty()) continue;
    if (options.sort != "file") {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](const OverviewLine* a, const OverviewLine* b) { return comes_first(*a, *b, options.sort); });
    }
    const std::size_t most =
        is_per_pass && !options.top && room.tests != 0 && lines_.size() != rows.size() ? room.tests / 2 : room.tests;
    const std::size_t shown = most == 0 ? rows.size() : std::min(most, rows.size());
    const auto has = [&](auto test) {
      return std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), test);
    };
    const bool has_outcomes = has([](const OverviewLine* one) { return !one->outcome.empty(); });
    const bool is_wide = markdown || width == 0 || width >= render::kWideScreen;
    const std::string per = is_per_pass ? " a pass" : "";
    std::vector<render::TableColumn> columns = {{"wall" + per, Align::right},
                                                {"kernel", Align::right},
                                                {"waits", Align::right},
                                                {"calls", Align::right},
                                                {"errors", Align::right}};
    if (is_wide) columns.push_back({"mostly"});
    if (has_outcomes) columns.push_back({"outcome"});
    columns.push_back({is_per_pass ? "loop or benchmark" : "test", Align::left, Cells::names, Shrinks::in_the_middle});
    render::Table table(columns);
    for (std::size_t i = 0; i < shown; ++i) {
      const OverviewLine& one = *rows[i];
      std::vector<std::string> cells = {duration(one.wall_ns), duration(one.work_ns),
                                        one.wait_ns == 0.0 ? "" : duration(one.wait_ns), count(one.calls),
                                        errors(one.errors)};
      if (is_wide) cells.push_back(one.mostly);
      if (has_outcomes) cells.push_back(one.has_failed && !markdown ? paint.red(one.outcome) : one.outcome);
      cells.push_back(one.name);
      table.add_row(std::move(cells));
    }
    out += (markdown ? "" : "\n") + (markdown ? table.markdown() + '\n' : table.text(2, 2, width));
    if (shown < rows.size()) {
      out += line(fmt::format("and {} more: --top 0, --sort KEY, --test PATTERN", rows.size() - shown));
    }
  }
  if (quiet_tests_ != 0) {
    out += line(fmt::format("{} test{} without a syscall, wall {}{}", quiet_tests_, quiet_tests_ == 1 ? "" : "s",
                            duration(quiet_wall_ns_), quiet_tests_ == 1 ? "" : " together"));
  }
  return out;
}

}  // namespace syscost::bench::commands
