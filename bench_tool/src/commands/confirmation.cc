// SPDX-License-Identifier: MIT
#include "commands/confirmation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "commands/alternator.h"
#include "commands/child.h"
#include "commands/compare.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;
using stats::Comparison;
using stats::Verdict;

constexpr std::string_view kProgram = "{program}";

/// A line on a terminal; elsewhere nothing.
void show_progress(std::ostream& err, const std::string& line) {
  if (err.rdbuf() == std::cerr.rdbuf() && ::isatty(STDERR_FILENO) == 1) err << "\r\033[K" << line << std::flush;
}

std::vector<std::string> with_program(std::vector<std::string> command, const std::string& program) {
  for (std::string& word : command) {
    for (std::size_t at = 0; (at = word.find(kProgram, at)) != std::string::npos; at += program.size()) {
      word.replace(at, kProgram.size(), program);
    }
  }
  return command;
}

std::string run_once(const std::vector<std::string>& command, const fs::path& csv, std::size_t number) {
  std::string output;
  const ChildEnd end = run_child(command,
                                 [&](std::string_view piece) {
                                   constexpr std::size_t kKept = 1 << 16;  // only its end is ever shown
                                   output += piece;
                                   if (output.size() > 2 * kKept) output.erase(0, output.size() - kKept);
                                 },
                                 {"SYSCOST_CSV=" + csv.string(), fmt::format("SYSCOST_RUN_ID=confirm-{}", number)});
  const std::string text = fmt::format("{}", fmt::join(command, " "));
  if (InterruptRequest::is_made()) return "interrupted: nothing is confirmed\n";
  if (end.error != 0) return fmt::format("{} cannot be run: {}\n", text, std::generic_category().message(end.error));
  if (end.status != 0) {
    return fmt::format("{} failed, so nothing is confirmed: {}. It printed:\n{}", text, status_text(end.status),
                       tail_of(output));
  }
  std::error_code ignored;
  if (fs::exists(csv, ignored)) return {};
  return fmt::format(
      "{} left no CSV: it is not linked with syscost, or names a file of its own (--syscost_csv, or "
      "SYSCOST_CSV in a test's own environment)\n",
      text);
}

/// A name has its program behind it where several programs of a run have it, and the next run may be of one program.
std::string key_of(const Comparison& row) {
  const stats::WindowSummary& window = row.new_window != nullptr ? *row.new_window : *row.old_window;
  const std::string behind = fmt::format(" ({})", window.program);
  std::string_view name = window.name;
  if (name.ends_with(behind)) name.remove_suffix(behind.size());
  return fmt::format("{}\t{}", window.program, name);
}

}  // namespace

std::set<Confirmation::Cell> Confirmation::grown_cells(const Comparison& row) {
  std::set<Cell> cells;
  for (const stats::Delta& delta : row.deltas) {
    if (delta.is_gated() && delta.change == stats::Change::grew) {
      cells.emplace(delta.syscall, delta.errno_name, delta.is_fixed);
    }
  }
  return cells;
}

Confirmation::Confirmation(const std::vector<Comparison>& rows) {
  for (const Comparison& row : rows) {
    // A verdict of times alone has no counts that could repeat.
    const std::set<Cell> cells = grown_cells(row);
    if (row.verdict != Verdict::regressed || row.is_plain || cells.empty()) continue;
    suspects_[key_of(row)] = {row.name, std::string(row.new_window->program), cells, breakdown(row), 0};
  }
}

std::string Confirmation::take(const std::vector<Comparison>& again) {
  std::map<std::string, const Comparison*> by_key;
  for (const Comparison& row : again) by_key.emplace(key_of(row), &row);
  ++runs_;
  for (auto& [key, suspect] : suspects_) {
    if (suspect.ended_in != 0) continue;
    const auto found = by_key.find(key);
    const bool is_there = found != by_key.end() && found->second->new_window != nullptr;
    if (!is_there || found->second->verdict == Verdict::errored) {
      return fmt::format(
          "{} {} when it was run again, so nothing is confirmed: the command must run every test that is "
          "suspected\n",
          suspect.name, is_there ? "failed or was skipped" : "did not run");
    }
    // Counts of which events were lost do not clear anything.
    if (stats::has_no_answer(found->second->verdict)) continue;
    const std::set<Cell> grown = grown_cells(*found->second);
    std::erase_if(suspect.cells, [&](const Cell& cell) { return grown.count(cell) == 0; });
    if (suspect.cells.empty()) suspect.ended_in = runs_;
  }
  return {};
}

std::size_t Confirmation::suspects() const {
  return static_cast<std::size_t>(
      std::count_if(suspects_.begin(), suspects_.end(), [](const auto& one) { return one.second.ended_in == 0; }));
}

std::set<std::string> Confirmation::programs() const {
  std::set<std::string> programs;
  for (const auto& [key, suspect] : suspects_) {
    if (suspect.ended_in == 0) programs.insert(suspect.program);
  }
  return programs;
}

void Confirmation::apply_to(Comparison& row) const {
  const auto found = suspects_.find(key_of(row));
  if (found == suspects_.end() || row.verdict != Verdict::regressed) return;
  for (stats::Delta& delta : row.deltas) {
    const bool is_left = found->second.cells.count({delta.syscall, delta.errno_name, delta.is_fixed}) != 0;
    if (delta.is_gated() && delta.change == stats::Change::grew && !is_left) delta.change = stats::Change::near;
  }
  if (found->second.cells.empty()) {
    row.verdict = Verdict::near;
    row.reason = "did not repeat";
  }
}

std::string Confirmation::text() const {
  if (suspects_.empty()) return {};
  std::string out = fmt::format("run {} more time{}: {} of {} red tests repeated\n", runs_, runs_ == 1 ? "" : "s",
                                suspects(), suspects_.size());
  for (const auto& [key, suspect] : suspects_) {
    if (suspect.ended_in == 0) continue;
    out += fmt::format("did not repeat: {}: {}; not in run {}\n", suspect.name, suspect.what, suspect.ended_in);
  }
  return out;
}

std::string run_again(const std::vector<std::string>& command, std::size_t times, const Suspicion& suspicion,
                      std::ostream& err) {
  const MeasurementFolder folder("");
  if (!folder.fault().empty()) return folder.fault() + '\n';
  const InterruptRequest interrupt;
  const bool is_by_program = std::any_of(
      command.begin(), command.end(), [](const std::string& word) { return word.find(kProgram) != std::string::npos; });
  for (std::size_t run = 1; run <= times; ++run) {
    const std::size_t suspects = suspicion.count();
    if (suspects == 0) break;
    const fs::path csv = folder.path() / fmt::format("{}.csv", run);
    const std::set<std::string> programs = is_by_program ? suspicion.programs() : std::set<std::string>{""};
    for (const std::string& program : programs) {
      show_progress(err, fmt::format("run {} of {}, {} suspected{}", run, times, suspects,
                                     program.empty() ? "" : ": " + program));
      std::string fault = run_once(with_program(command, program), csv, run);
      show_progress(err, "");
      if (!fault.empty()) return fault;
    }
    if (std::string fault = suspicion.take(csv.string()); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace syscost::bench::commands
