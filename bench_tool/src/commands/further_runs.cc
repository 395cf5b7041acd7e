// SPDX-License-Identifier: MIT
#include "commands/further_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <system_error>

#include "commands/child.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "{program}";

/// Prints a line on a terminal, and nothing elsewhere.
void show_progress(std::ostream& err, const std::string& line) {
  if (err.rdbuf() == std::cerr.rdbuf() && ::isatty(STDERR_FILENO) == 1) err << "\r\033[K" << line << std::flush;
}

bool is_by_program(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.find(kProgram) != std::string::npos; });
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

}  // namespace

std::string fault_of_programs(const std::vector<std::string>& command, const std::set<std::string>& programs) {
  if (!is_by_program(command)) return {};
  const auto odd = std::find_if_not(programs.begin(), programs.end(), is_plain_name);
  if (odd == programs.end()) return {};
  return fmt::format(
      "the CSV has a test to run again of the program \"{}\", and this name is not put in the place of {}, because a "
      "shell may read more than a name in it: it has other characters than letters, digits, and . _ + -, or begins "
      "with - or a dot. Write a command without {}, or rename the target and measure both sides again. Nothing was "
      "run\n",
      *odd, kProgram, kProgram);
}

FurtherRuns::FurtherRuns(double budget_s, std::size_t most, std::ostream& err)
    : budget_s_(budget_s), most_(most), err_(err), folder_("", err) {}

double FurtherRuns::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool FurtherRuns::may_go_on() const {
  if (InterruptRequest::is_made()) return false;
  if (rounds_ == 0) return true;
  const double elapsed = elapsed_s();
  return rounds_ < most_ && elapsed + elapsed / static_cast<double>(rounds_) <= budget_s_;
}

std::string FurtherRuns::text() const {
  std::string out = fmt::format("{} further run{}", rounds_, rounds_ == 1 ? "" : "s");
  // Less is no time that anybody waits for.
  if (elapsed_s() >= 1) out += fmt::format(" ({:.1f} s)", elapsed_s());
  if (with_status_ > 0) out += fmt::format(", {} of the commands ended with {}", with_status_, last_status_);
  if (InterruptRequest::is_made()) return out + ", interrupted";
  if (rounds_ > 0 && rounds_ < most_ && !may_go_on()) out += fmt::format(", the budget of {:g} s is used", budget_s_);
  return out;
}

std::string FurtherRuns::run_once(const std::vector<std::string>& command, std::string& csv) {
  // A name of one length, whatever is run: the sides must not differ by it.
  csv = (folder_.path() / fmt::format("{:06}.csv", ++runs_)).string();
  std::string output;
  const ChildEnd end = run_child(command,
                                 [&](std::string_view piece) {
                                   constexpr std::size_t kKept = 1 << 16;  // only its end is ever shown
                                   output += piece;
                                   if (output.size() > 2 * kKept) output.erase(0, output.size() - kKept);
                                 },
                                 {"SYSCOST_CSV=" + csv, fmt::format("SYSCOST_RUN_ID=further-{:06}", runs_)});
  if (InterruptRequest::is_made()) return {};
  const std::string text = fmt::format("{}", fmt::join(command, " "));
  if (end.error != 0) return fmt::format("{} cannot be run: {}\n", text, std::generic_category().message(end.error));
  std::error_code ignored;
  if (fs::exists(csv, ignored)) {
    // Tests that fail end a command with a status, too: what passed is in the file.
    if (end.status != 0) {
      ++with_status_;
      last_status_ = status_text(end.status);
      last_output_ = tail_of(output);
    }
    return {};
  }
  if (end.status != 0) {
    return fmt::format("{} failed and wrote no CSV: {}. It printed:\n{}", text, status_text(end.status),
                       tail_of(output));
  }
  return fmt::format(
      "{} wrote no CSV: it is not linked with syscost, or it names its own file (--syscost_csv, or SYSCOST_CSV in a "
      "test's own environment)\n",
      text);
}

std::string FurtherRuns::run_round(const std::set<std::string>& programs, std::size_t waiting,
                                   const std::function<const std::vector<std::string>&()>& command_of,
                                   const std::function<std::string(const std::string& csv)>& take) {
  bool is_whole = false;
  for (const std::string& program : programs) {
    if (is_whole || InterruptRequest::is_made()) break;
    const std::vector<std::string>& command = command_of();
    is_whole = !is_by_program(command);
    show_progress(
        err_, fmt::format("run {} of at most {}, {:.0f} s of {:g} s, {} test{} undecided{}", rounds_ + 1, most_,
                          elapsed_s(), budget_s_, waiting, waiting == 1 ? "" : "s", is_whole ? "" : ": " + program));
    std::string csv;
    std::string fault = run_once(with_program(command, program), csv);
    show_progress(err_, "");
    if (fault.empty() && !InterruptRequest::is_made()) fault = take(csv);
    if (!fault.empty()) return fault;
  }
  if (!InterruptRequest::is_made()) ++rounds_;
  return {};
}

}  // namespace syscost::bench::commands
