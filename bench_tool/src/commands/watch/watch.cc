// SPDX-License-Identifier: MIT
#include "commands/watch/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/loader.h"
#include "render/numbers.h"
#include "render/table.h"
#include "stats/latency.h"
#include "stats/watched_series.h"

namespace syscost::bench::commands {
namespace {

using stats::WatchedInterval;

/// Three digits: a rate is no exact count.
std::string rate(double per_second) {
  if (per_second >= 100) return fmt::format("{:.0f}", per_second);
  return per_second >= 10 ? fmt::format("{:.1f}", per_second) : fmt::format("{:.3g}", per_second);
}

std::string rate(const std::optional<double>& number, double seconds) {
  return number ? rate(*number / seconds) : render::kNotMeasured;
}

struct Totals {
  double calls = 0;
  std::optional<double> errors = 0;
  std::optional<double> work_ns = 0;
};

Totals totals_of(const WatchedInterval& interval) {
  Totals totals;
  for (const auto& [name, one] : interval.by_syscall) {
    totals.calls += one.calls;
    totals.errors = totals.errors && one.errors ? std::optional(*totals.errors + *one.errors) : std::nullopt;
    if (one.is_wait) continue;
    totals.work_ns = totals.work_ns && one.kernel_ns ? std::optional(*totals.work_ns + *one.kernel_ns) : std::nullopt;
  }
  return totals;
}

std::string totals_text(const WatchedInterval& interval) {
  const Totals totals = totals_of(interval);
  std::string text = fmt::format("{} calls/s, {} errors/s", rate(totals.calls / interval.seconds),
                                 rate(totals.errors, interval.seconds));
  if (totals.work_ns)
    text += fmt::format(", {} in the kernel per s", render::duration(*totals.work_ns / interval.seconds));
  if (interval.has_losses) text += ", events were lost: lower bounds";
  return text;
}

/// `calls 1200/s, usual 30 (high)`
std::string words_of(const stats::Finding& finding, double seconds) {
  const std::string_view severity = stats::to_string(finding.unusual.severity);
  if (finding.what == stats::Watched::time_per_call) {
    return fmt::format("{} a call, usual {} ({})", render::duration(finding.value),
                       render::duration(finding.unusual.usual), severity);
  }
  return fmt::format("{} {}/s, usual {} ({})", finding.what == stats::Watched::calls ? "calls" : "errors",
                     rate(finding.value / seconds), rate(finding.unusual.usual / seconds), severity);
}

std::string painted(const std::string& text, stats::Severity severity, const render::Paint& paint) {
  return severity == stats::Severity::low ? paint.yellow(text) : paint.red(text);
}

/// The p99 of each syscall over the minute that ends with intervals[at].
std::map<std::string, std::string, std::less<>> percentiles(const WatchedRun& run, std::size_t at) {
  model::Group minute;
  minute.origin = run.data.samples[run.intervals[at].sample].origin;
  for (std::size_t i = stats::first_of_minute(run.intervals, at); i <= at; ++i) {
    minute.samples.push_back(run.intervals[i].sample);
  }
  csv::Problems ignored;  // noted when the file was read
  std::map<std::string, std::string, std::less<>> by_name;
  for (const stats::SyscallLatency& one : stats::latencies_of(run.data, minute, model::SyscallChoice(), ignored)) {
    const auto p99 = stats::percentile_ns(one, 0.99);
    by_name[one.name] = p99 ? render::duration(static_cast<double>(*p99)) : render::kNotMeasured;
  }
  return by_name;
}

}  // namespace

namespace {

model::LoadOptions load_options_of_watch(const cli::Options& options) {
  model::LoadOptions load;
  load.folders = options.folders;
  load.keep_intervals = true;
  load.keep_histograms = true;
  load.is_printable = true;
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  return load;
}

}  // namespace

WatchedRun load_watched(const cli::Options& options, const std::string& file, csv::Problems& problems) {
  WatchedRun run;
  run.data = model::load(file, load_options_of_watch(options), problems);
  run.intervals = stats::intervals_of(run.data, run.command);
  return run;
}

WatchedRun load_watched_text(const cli::Options& options, const std::string& file, std::string_view text,
                             csv::Problems& problems) {
  WatchedRun run;
  run.data = model::load_text(file, text, load_options_of_watch(options), problems);
  run.intervals = stats::intervals_of(run.data, run.command);
  return run;
}

std::string newest_interval_text(const WatchedRun& run, const render::Screen& screen, const render::Paint& paint) {
  const std::size_t at = run.intervals.size() - 1;
  const WatchedInterval& now = run.intervals[at];
  const std::vector<stats::Finding> findings = stats::findings_in(run.intervals, at);
  std::string text =
      paint.bold(run.command) + fmt::format(", {:.3g} s, interval {} of {:.3g} s\n{}\n\n", now.begin_s + now.seconds,
                                            now.number + 1, now.seconds, totals_text(now));
  std::vector<std::pair<std::string, stats::IntervalCalls>> rows(now.by_syscall.begin(), now.by_syscall.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const auto key = [](const stats::IntervalCalls& one) {
      return std::pair(one.is_wait ? -1.0 : one.kernel_ns.value_or(0), one.calls);
    };
    return key(a.second) > key(b.second);
  });
  constexpr std::size_t kMostFindings = 3;
  const std::size_t other_lines = 6 + std::min(kMostFindings, findings.size());
  const std::size_t room = screen.height == 0            ? rows.size()
                           : screen.height > other_lines ? screen.height - other_lines
                                                         : 1;
  const auto p99 = percentiles(run, at);
  render::Table table({{"calls/s", render::Align::right},
                       {"errors/s", render::Align::right},
                       {"kernel/s", render::Align::right},
                       {"p99", render::Align::right},
                       {"syscall"}});
  for (std::size_t i = 0; i < std::min(room, rows.size()); ++i) {
    const auto& [name, one] = rows[i];
    const auto found = p99.find(name);
    table.add_row({rate(one.calls / now.seconds), rate(one.errors, now.seconds),
                   one.kernel_ns ? render::duration(*one.kernel_ns / now.seconds) : render::kNotMeasured,
                   found == p99.end() ? render::kNotMeasured : found->second, name + (one.is_wait ? " (waits)" : "")});
  }
  text += table.text(2, 2, screen.width);
  if (rows.size() > room) text += fmt::format("{} more syscalls\n", rows.size() - room);
  for (std::size_t i = 0; i < std::min(kMostFindings, findings.size()); ++i) {
    const std::string words = findings[i].syscall + ": " + words_of(findings[i], now.seconds);
    text += painted("unusual: " + words, findings[i].unusual.severity, paint) + '\n';
  }
  if (at < stats::kLeastBefore) {
    text += fmt::format("what is usual is known after {} intervals\n", stats::kLeastBefore);
  }
  return text;
}

std::string interval_line(const WatchedRun& run, std::size_t at) {
  const WatchedInterval& interval = run.intervals[at];
  std::string line =
      fmt::format("{}, {:.3g} s: {}", run.command, interval.begin_s + interval.seconds, totals_text(interval));
  for (const stats::Finding& finding : stats::findings_in(run.intervals, at)) {
    line += fmt::format("; unusual: {} {}", finding.syscall, words_of(finding, interval.seconds));
  }
  return line + '\n';
}

std::string unusual_text(const WatchedRun& run, std::size_t most, const render::Paint& paint) {
  std::vector<stats::Finding> all;
  for (std::size_t at = 0; at < run.intervals.size(); ++at) {
    for (stats::Finding& finding : stats::findings_in(run.intervals, at)) all.push_back(std::move(finding));
  }
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(), [](const stats::Finding& a, const stats::Finding& b) {
    return std::abs(a.unusual.z) > std::abs(b.unusual.z);
  });
  std::string text =
      fmt::format("unusual against the minute before, {} in {} intervals:\n", all.size(), run.intervals.size());
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    const stats::Finding& one = all[i];
    text += fmt::format(
        "  at {:.3g} s  {}\n", run.intervals[one.interval].begin_s,
        painted(one.syscall + ": " + words_of(one, run.intervals[one.interval].seconds), one.unusual.severity, paint));
  }
  if (all.size() > most) text += fmt::format("  {} more\n", all.size() - most);
  return text;
}

int watch(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  const WatchedRun run = load_watched(options, options.runs.front(), problems);
  if (run.intervals.empty() && problems.empty()) {
    problems.add(options.runs.front(), 0,
                 "has no intervals; write them with `bench run --interval 1s --csv FILE -- COMMAND`");
  }
  if (!run.intervals.empty()) {
    out << newest_interval_text(run, options.screen, paint);
    constexpr std::size_t kMost = 20;
    const std::string unusual = unusual_text(run, options.all ? run.intervals.size() * 1000 : kMost, paint);
    out << (unusual.empty() ? "" : "\n") << unusual;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

namespace {

/// The rest is read at the next look.
constexpr std::uintmax_t kMostAtOnce = std::uintmax_t{64} << 20;

std::string cell_of(const std::string& text) {
  const bool is_quoted = text.find_first_of(",\"") != std::string::npos;
  if (!is_quoted) return text;
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

std::uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

LiveRows::LiveRows(const cli::Options& options, std::string path)
    : options_(options),
      path_(std::move(path)),
      id_(cell_of(options.run_ids.front()) + ","),
      read_to_(size_of(path_)) {}

/// Whole rows of the run, from where the look before ended.
std::string LiveRows::appended() {
  const std::uintmax_t size = size_of(path_);
  if (size < read_to_) read_to_ = 0;  // it was emptied
  if (size == read_to_) return {};
  std::ifstream file(path_, std::ios::binary);
  if (header_.empty() && std::getline(file, header_)) header_ += '\n';
  std::string bytes(std::min(size - read_to_, kMostAtOnce), '\0');
  file.seekg(static_cast<std::streamoff>(read_to_));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t rows_end = bytes.rfind('\n') + 1;
  // The last row is being written. A line as long as that is no row.
  read_to_ += rows_end == 0 && bytes.size() == kMostAtOnce ? kMostAtOnce : rows_end;
  bytes.resize(rows_end);
  std::string rows;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\n', begin) + 1;
    const std::string_view row = std::string_view(bytes).substr(begin, end - begin);
    const std::size_t version_end = row.find(',');
    if (version_end != std::string_view::npos && row.substr(version_end + 1).starts_with(id_)) rows += row;
    begin = end;
  }
  return rows;
}

bool LiveRows::read() {
  std::string rows = appended();
  if (rows.empty()) return false;
  drop_old();
  std::size_t before = 0;
  std::string text = header_;
  for (const Part& part : parts_) {
    before += part.intervals;
    text += part.rows;
  }
  text += rows;
  csv::Problems ignored;  // bench watch prints those of the whole file
  run_ = load_watched_text(options_, path_, text, ignored);
  for (stats::WatchedInterval& interval : run_.intervals) interval.begin_s += dropped_s_;
  new_intervals_ = run_.intervals.size() - before;
  parts_.push_back({std::move(rows), new_intervals_});
  return new_intervals_ > 0;
}

/// Drops rows that no later interval is compared with.
void LiveRows::drop_old() {
  if (run_.intervals.empty()) return;
  const std::size_t first = stats::first_of_minute(run_.intervals, run_.intervals.size() - 1);
  std::size_t dropped = 0;
  while (parts_.size() > 1 && dropped + parts_.front().intervals <= first) {
    for (std::size_t i = 0; i < parts_.front().intervals; ++i) dropped_s_ += run_.intervals[dropped + i].seconds;
    dropped += parts_.front().intervals;
    parts_.pop_front();
  }
  dropped_ += dropped;
}

std::size_t LiveRows::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.rows.size();
  return bytes;
}

}  // namespace syscost::bench::commands
