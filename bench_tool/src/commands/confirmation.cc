// SPDX-License-Identifier: MIT
#include "commands/confirmation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "commands/child.h"
#include "commands/compare.h"
#include "commands/interleaved_runner.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;
using stats::Comparison;
using stats::Verdict;

constexpr std::string_view kProgram = "{program}";

/// Program and name of a row's test. A displayed name ends with the program only if several programs of the run have
/// a test of this name; the key does not depend on that.
std::string row_key(const Comparison& row) {
  const stats::WindowSummary& window = row.new_window != nullptr ? *row.new_window : *row.old_window;
  const std::string program_suffix = fmt::format(" ({})", window.program);
  std::string_view name = window.name;
  if (name.ends_with(program_suffix)) name.remove_suffix(program_suffix.size());
  return fmt::format("{}\t{}", window.program, name);
}

/// Prints a line on a terminal, and nothing elsewhere.
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

/// True for a name that a shell, and a program that reads options, take as it is.
bool is_plain_name(std::string_view program) {
  // A program that its folder tells apart has it in its name.
  if (const std::size_t slash = program.find('/'); slash != std::string_view::npos) {
    return is_plain_name(program.substr(0, slash)) && is_plain_name(program.substr(slash + 1));
  }
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";
  return program.find_first_not_of(kPlain) == std::string::npos && !program.starts_with('-') &&
         !program.starts_with('.') && !program.empty();
}

/// Why one of these names does not take the place of `{program}`; "" if all do.
std::string fault_of_names(const std::set<std::string>& programs) {
  const auto odd = std::find_if_not(programs.begin(), programs.end(), is_plain_name);
  if (odd == programs.end()) return {};
  return fmt::format(
      "the CSV has a red test of the program \"{}\", and this name is not put in the place of {}, because a shell may "
      "read more than a name in it: it has other characters than letters, digits, and . _ + -, or begins with - or a "
      "dot. Write a command without {}, or rename the target and measure both sides again. Nothing was run\n",
      *odd, kProgram, kProgram);
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
      "{} wrote no CSV: it is not linked with syscost, or it names its own file (--syscost_csv, or SYSCOST_CSV in a "
      "test's own environment)\n",
      text);
}

// In the place of a syscall's name.
constexpr const char* kWall = "wall time";
constexpr const char* kCpu = "cpu time";

/// The rank test did not judge this time, because there are too few samples. So it does not withdraw the finding.
bool is_unknown(const Comparison& row, const std::string& cell) {
  if (cell == kWall) return !row.time || !row.time->is_judged();
  return cell == kCpu && (!row.cpu || !row.cpu->is_judged());
}

void calm(std::optional<stats::TimeVerdict>& time) {
  time->verdict = Verdict::inconclusive;
  time->reason = "did not repeat";
}

}  // namespace

std::set<Confirmation::Cell> Confirmation::grown_cells(const Comparison& row) const {
  std::set<Cell> cells;
  if (gate_.wall && row.has_wall_verdict(Verdict::regressed)) cells.emplace(kWall, "", false);
  if (gate_.cpu && row.has_cpu_verdict(Verdict::regressed)) cells.emplace(kCpu, "", false);
  if (!gate_.counts || row.verdict != Verdict::regressed) return cells;
  for (const stats::Delta& delta : row.deltas) {
    if (delta.is_gated() && delta.change == stats::Change::grew) {
      cells.emplace(delta.syscall, delta.errno_name, delta.is_per_run);
    }
  }
  return cells;
}

Confirmation::Confirmation(const std::vector<Comparison>& rows, const cli::Gate& gate) : gate_(gate) {
  for (const Comparison& row : rows) {
    // A further run cannot write a file that has times only.
    const std::set<Cell> cells = grown_cells(row);
    if (row.is_plain || cells.empty()) continue;
    Suspect suspect{row.name, std::string(row.new_window->program), cells, false, "", 0};
    std::vector<std::string> what;
    for (const auto& [name, errno_name, is_per_run] : cells) {
      if (name == kWall || name == kCpu) what.push_back(name);
    }
    suspect.has_counts = cells.size() > what.size();
    if (suspect.has_counts) what.insert(what.begin(), breakdown(row));
    suspect.what = fmt::format("{}", fmt::join(what, ", "));
    suspects_[row_key(row)] = std::move(suspect);
  }
}

std::string Confirmation::take(const std::vector<Comparison>& again) {
  std::map<std::string, const Comparison*> by_key;
  for (const Comparison& row : again) by_key.emplace(row_key(row), &row);
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
    // Counts with lost events do not withdraw a finding.
    const Comparison& now = *found->second;
    if (stats::has_no_answer(now.verdict)) continue;
    const std::set<Cell> grown = grown_cells(now);
    std::erase_if(suspect.cells,
                  [&](const Cell& cell) { return grown.count(cell) == 0 && !is_unknown(now, std::get<0>(cell)); });
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
  const auto found = suspects_.find(row_key(row));
  if (found == suspects_.end()) return;
  const Suspect& suspect = found->second;
  const auto is_left = [&](const std::string& name, const std::string& errno_name, bool is_per_run) {
    return suspect.cells.count({name, errno_name, is_per_run}) != 0;
  };
  if (gate_.wall && row.has_wall_verdict(Verdict::regressed) && !is_left(kWall, "", false)) calm(row.time);
  if (gate_.cpu && row.has_cpu_verdict(Verdict::regressed) && !is_left(kCpu, "", false)) calm(row.cpu);
  if (!suspect.has_counts) return;
  bool has_counts = false;
  for (stats::Delta& delta : row.deltas) {
    if (!delta.is_gated() || delta.change != stats::Change::grew) continue;
    if (is_left(delta.syscall, delta.errno_name, delta.is_per_run)) {
      has_counts = true;
    } else {
      delta.change = stats::Change::near;
    }
  }
  if (!has_counts) {
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
  const MeasurementFolder folder("", err);
  if (!folder.fault().empty()) return folder.fault() + '\n';
  const InterruptRequest interrupt;
  const bool is_by_program = std::any_of(
      command.begin(), command.end(), [](const std::string& word) { return word.find(kProgram) != std::string::npos; });
  // Before the first run, which may take minutes. A later run has no other programs.
  if (std::string fault = is_by_program ? fault_of_names(suspicion.programs()) : ""; !fault.empty()) return fault;
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
