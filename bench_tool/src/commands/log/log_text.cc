// SPDX-License-Identifier: MIT
//
// log for people: a line for each run, and below it what changed there.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "commands/compare/compare.h"
#include "commands/log/log.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using judge::HistoryRun;
using render::Align;
using render::Cells;
using render::Shrinks;
using stats::WindowSummary;

constexpr std::size_t kBarWidth = 10;
constexpr std::size_t kNarrowBarWidth = 5;
constexpr std::size_t kFewCommitDigits = 7;  ///< As `git log --oneline` has; lines are long enough.
constexpr std::size_t kMinutes = 16;         ///< `2026-11-21 01:52`
constexpr std::size_t kMostDoubtsNamed = 5;

std::string minutes_of(std::string time) {
  if (time.size() <= kMinutes) return time;
  time[time.find('T') == std::string::npos ? 0 : time.find('T')] = ' ';
  return time.substr(0, kMinutes);
}

using Height = stats::Numbers WindowSummary::*;

/// The bars show calls. If no run knows them they show entries into the kernel, and if nothing was counted, times.
Height height_of(const TestLog& log) {
  for (const Height height : {&WindowSummary::calls, &WindowSummary::entries}) {
    const auto has = [&](const HistoryRun& run) { return run.window && ((*run.window).*height); };
    if (std::any_of(log.runs.begin(), log.runs.end(), has)) return height;
  }
  return &WindowSummary::wall_ns;
}

std::string bar(const HistoryRun& run, Height height, double most, std::size_t width) {
  if (!run.window || !((*run.window).*height) || most <= 0) return {};
  const double share = ((*run.window).*height)->median / most;
  const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
  return std::string(share > 0 ? std::max<std::size_t>(filled, 1) : 0, '@');
}

std::string duration_of(const HistoryRun& run, stats::Numbers WindowSummary::*numbers) {
  return !run.window || !((*run.window).*numbers) ? std::string() : render::duration((*run.window).*numbers);
}

std::string calls_text(const HistoryRun& run) {
  if (!run.window) return "not run";
  const stats::Numbers& numbers = run.window->calls ? run.window->calls : run.window->entries;
  if (!numbers && run.window->is_plain) return {};
  std::string text = render::count(numbers);
  if (numbers && run.window->is_lower_bound()) text.insert(0, "at least ");
  if (!run.window->calls && numbers) text += " entries";
  if (numbers && !run.window->counted_everything()) text += " of " + stats::filter_text(*run.window);
  return text;
}

using Row = std::vector<std::string>;

/// The table without the columns that are empty in all rows.
render::Table log_table(const TestLog& log, std::size_t width) {
  std::vector<render::TableColumn> columns = {{"started"},
                                              {"run", Align::left, Cells::names, Shrinks::in_the_middle},
                                              {"label", Align::left, Cells::names, Shrinks::at_the_end},
                                              {"commit", Align::left, Cells::names},
                                              {"calls", Align::right},
                                              {""},
                                              {"wall", Align::right},
                                              {"cpu", Align::right},
                                              {"outcome"}};
  const Height height = height_of(log);
  double most = 0;
  for (const HistoryRun& run : log.runs) {
    if (run.window && ((*run.window).*height)) most = std::max(most, ((*run.window).*height)->median);
  }
  const std::size_t bar_width = width != 0 && width < render::kWideScreen ? kNarrowBarWidth : kBarWidth;
  std::vector<Row> rows;
  for (const HistoryRun& run : log.runs) {
    const model::Context& context = *run.context;
    rows.push_back(
        {minutes_of(log.data->text(context.started_at)), context.is_plain ? std::string() : log.data->text(run.run_id),
         log.data->text(context.label), log.data->text(context.commit).substr(0, kFewCommitDigits), calls_text(run),
         bar(run, height, most, bar_width), duration_of(run, &WindowSummary::wall_ns),
         duration_of(run, &WindowSummary::cpu_ns), run.window ? stats::outcome_text(*run.window) : std::string()});
  }
  for (std::size_t i = columns.size(); i-- > 0;) {
    if (std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return !row[i].empty(); })) continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
  render::Table table(std::move(columns));
  for (Row& row : rows) table.add_row(std::move(row));
  return table;
}

std::string heading(const TestLog& log) {
  std::size_t steps = 0;
  const HistoryRun* last = nullptr;
  for (const HistoryRun& run : log.runs) {
    if (step_lines(run).empty()) continue;
    ++steps;
    last = &run;
  }
  const std::string runs = fmt::format("{} run{}", log.runs.size(), log.runs.size() == 1 ? "" : "s, the oldest first");
  if (last == nullptr) return runs + ": no step\n";
  return fmt::format("{}: {} step{} in {}\n", runs, steps, steps == 1 ? "," : "s, the last",
                     name_of_run(*log.data, *last->context));
}

std::string notes(const TestLog& log) {
  const auto timed = std::count_if(log.runs.begin(), log.runs.end(),
                                   [](const HistoryRun& run) { return run.window && run.window->wall_ns; });
  if (timed == 0 || static_cast<std::size_t>(timed) >= judge::kLeastHistory) return {};
  return fmt::format("times: {} runs are too few for a step to show; it takes {}\n", timed, judge::kLeastHistory);
}

template <class Log>
std::string rules_line(const Log& log, std::size_t width) {
  return log.count_rules.empty() ? "" : render::wrapped(log.count_rules + '\n', width, 2);
}

/// A cause of a run, for people.
struct CauseLine {
  std::string run;
  std::string word;
  std::string text;
};

/// The newest first. The commit names a run, or its id where it has none, or where several runs have it.
std::vector<CauseLine> cause_lines(const CauseLog& log) {
  std::map<model::NameId, std::size_t> runs_of;
  for (const LoggedRun& run : log.runs) ++runs_of[run.context->commit];
  std::vector<CauseLine> lines;
  for (auto run = log.runs.rbegin(); run != log.runs.rend(); ++run) {
    const model::NameId commit = run->context->commit;
    const bool has_commit = commit != model::kNoName;
    std::string name = has_commit ? log.data.text(commit).substr(0, kFewCommitDigits) : log.data.text(run->run_id);
    if (has_commit && runs_of[commit] > 1) name += ' ' + log.data.text(run->run_id);
    for (const auto& [word, causes] : {std::pair("entered", &run->entered), std::pair("left", &run->left)}) {
      for (std::size_t i = 0; i < causes->size(); ++i) {
        if (i < kMostRowsWithCauses) {
          lines.push_back({name, word, (*causes)[i].text()});
          continue;
        }
        lines.push_back({name, word, fmt::format("{} more: --format json", causes->size() - i)});
        break;
      }
    }
  }
  return lines;
}

std::string heading(const CauseLog& log) {
  if (log.runs.empty()) return "no run\n";
  std::size_t entered = 0;
  std::size_t left = 0;
  for (const LoggedRun& run : log.runs) {
    entered += run.entered.size();
    left += run.left.size();
  }
  const auto started = [&](const LoggedRun& run) { return minutes_of(log.data.text(run.context->started_at)); };
  std::string out = fmt::format("{} run{}", log.runs.size(), log.runs.size() == 1 ? "" : "s");
  if (log.runs.size() == 1) return out + ": nothing to compare it with\n";
  out += fmt::format(", {} to {}, the newest first", started(log.runs.front()), started(log.runs.back()));
  if (entered + left == 0) {
    const bool is_whole =
        std::all_of(log.runs.begin(), log.runs.end(), [](const LoggedRun& run) { return run.not_compared.empty(); });
    return out + (is_whole ? ": no change\n" : ": no change in what could be compared\n");
  }
  return out + fmt::format(": {} cause{} entered, {} left\n", entered, entered == 1 ? "" : "s", left);
}

/// The notes that are in none of the lines.
std::string notes(const CauseLog& log) {
  std::set<std::string> doubts;
  std::size_t runs = 0;
  std::string out;
  for (const LoggedRun& run : log.runs) {
    doubts.insert(run.in_doubt.begin(), run.in_doubt.end());
    runs += run.in_doubt.empty() ? 0 : 1;
    if (!run.not_compared.empty()) out += name_of_run(log.data, *run.context) + ": " + run.not_compared + '\n';
  }
  if (doubts.empty()) return out;
  const auto end = std::next(doubts.begin(), static_cast<std::ptrdiff_t>(std::min(doubts.size(), kMostDoubtsNamed)));
  return out + fmt::format(
                   "in doubt, so in no line: counts of {} test{} in {} run{}, which chance may have changed: {}{}; "
                   "`bench log TEST RUN...` shows them\n",
                   doubts.size(), doubts.size() == 1 ? "" : "s", runs, runs == 1 ? "" : "s",
                   fmt::join(doubts.begin(), end, ", "), end == doubts.end() ? "" : ", ...");
}

}  // namespace

std::string name_of_run(const model::Dataset& data, const model::Context& context) {
  std::string name = context.is_plain ? std::string() : "run " + data.text(context.run_id) + ", ";
  if (context.commit != model::kNoName) {
    name += "commit " + data.text(context.commit).substr(0, kFewCommitDigits) + ", ";
  }
  return name + minutes_of(data.text(context.started_at));
}

std::vector<std::string> step_lines(const HistoryRun& run) {
  std::vector<std::string> lines;
  if (run.step) {
    const std::string change = breakdown(*run.step);
    lines.push_back(calls_cell(*run.step, "") + " calls" + (change.empty() ? "" : ": " + change));
  }
  const auto add = [&](const char* title, const std::optional<judge::ChangePoint>& step) {
    if (!step) return;
    const double percent = 100 * std::abs(step->after - step->before) / step->before;
    lines.push_back(fmt::format("{} {} -> {}, {:.0f} % {} from here on", title, render::duration(step->before),
                                render::duration(step->after), percent,
                                step->after > step->before ? "slower" : "faster"));
  };
  add("wall", run.wall_step);
  add("cpu", run.cpu_step);
  return lines;
}

std::string log_text(const TestLog& log, std::size_t width, const render::Paint& paint) {
  std::string out =
      paint.bold(log.test) + '\n' + render::wrapped(heading(log), width, 2) + rules_line(log, width) + '\n';
  const std::string table = log_table(log, width).text(2, 2, width);
  std::size_t at = 0;
  const auto next_line = [&] {
    const std::size_t begin = std::exchange(at, table.find('\n', at) + 1);
    return table.substr(begin, at - begin);
  };
  out += next_line();
  for (const HistoryRun& run : log.runs) {
    out += next_line();
    for (const std::string& line : step_lines(run)) {
      const std::string mark = render::wrapped("  ^ " + line + '\n', width, 2);
      out += run.step && run.step->verdict == judge::Verdict::regressed
                 ? paint.red(mark.substr(0, mark.size() - 1)) + '\n'
                 : mark;
    }
  }
  return out + render::wrapped(notes(log), width, 2);
}

std::string log_text(const CauseLog& log, std::size_t width, const render::Paint& paint) {
  std::string out = render::wrapped(heading(log), width, 2) + rules_line(log, width);
  const std::vector<CauseLine> lines = cause_lines(log);
  std::size_t name_width = 0;
  for (const CauseLine& line : lines) name_width = std::max(name_width, render::display_width(line.run));
  if (!lines.empty()) out += '\n';
  for (const CauseLine& line : lines) {
    const std::string name = line.run + std::string(name_width - render::display_width(line.run), ' ');
    const std::string text =
        render::wrapped(fmt::format("{}  {:7}  {}", name, line.word, line.text), width, name_width + 11);
    out += (line.word == "entered" ? paint.red(text) : paint.green(text)) + '\n';
  }
  const std::string more = render::wrapped(notes(log), width, 2);
  return out + (more.empty() ? "" : "\n") + more;
}

std::string log_markdown(const CauseLog& log) {
  std::string out = "### " + render::escaped_markdown(heading(log)) + '\n';
  if (const std::string rules = rules_line(log, 0); !rules.empty()) out += render::escaped_lines(rules) + '\n';
  render::Table table({{"run", Align::left, Cells::names}, {"change"}, {"cause", Align::left, Cells::names}});
  for (CauseLine& line : cause_lines(log)) {
    table.add_row({std::move(line.run), std::move(line.word), std::move(line.text)});
  }
  if (!table.empty()) out += table.markdown() + '\n';
  return out + render::escaped_lines(notes(log));
}

std::string log_markdown(const TestLog& log) {
  std::string out = "### " + render::code_span(log.test) + "\n\n" + render::escaped_lines(heading(log)) + '\n';
  std::string steps;
  for (const HistoryRun& run : log.runs) {
    for (const std::string& line : step_lines(run)) {
      steps += "- " + render::escaped_markdown(name_of_run(*log.data, *run.context) + ": " + line) + '\n';
    }
  }
  if (!steps.empty()) out += steps + '\n';
  return out + log_table(log, 0).markdown();
}

}  // namespace syscost::bench::commands
