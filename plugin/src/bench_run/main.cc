// SPDX-License-Identifier: MIT
//
// syscost-run: what `bench run [OPTION...] -- COMMAND...` executes. It sets up the programs below it so that each test
// program measures its tests, runs the command, and measures the command as a whole where no test program is below it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/common/variables.h"
#include "agent/inject/permission.h"
#include "bench_run/command.h"
#include "bench_run/options.h"
#include "bench_run/programs.h"
#include "bench_run/row_file.h"
#include "os/command_line.h"
#include "os/descriptors.h"
#include "os/environment.h"
#include "os/program_files.h"
#include "os/signals.h"
#include "os/text.h"
#include "session/options/option_table.h"
#include "session/outside.h"
#include "syscost/adapter.h"

namespace syscost::bench_run {
namespace {

/// Bytes that the kernel takes for the environment that this program was started with.
std::size_t g_environment_before = 0;

/// The folder of this program, of the agent beside it, and of `bench` in relation to it.
std::string own_folder() {
  const std::string path = own_program_path();
  if (path.empty()) refuse(why_own_program_is_unknown(errno), kOwnProgramRemedy);
  return path.substr(0, path.rfind('/'));
}

/// `words` as a shell reads them.
std::string typed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += ' ' + shell_word(word);
  return printable(text);
}

/// A command without the mark before it.
[[noreturn]] void refuse_command_without_mark(const std::vector<std::string>& options, std::string_view program) {
  const auto begin = std::find(options.begin(), options.end(), program);
  refuse(printable(program) + " is no option of bench run", "write the command after --: bench run" +
                                                                typed({options.begin(), begin}) + " --" +
                                                                typed({begin, options.end()}));
}

void check_options(const std::vector<std::string>& options) {
  std::vector<std::string> texts = {"bench"};
  texts.insert(texts.end(), options.begin(), options.end());
  std::vector<char*> arguments = null_ended(texts);
  int count = static_cast<int>(texts.size());
  if (!adapter::take_options(&count, arguments.data())) {
    report_refused("an option has a bad value");
    std::exit(kExitBadInput);
  }
  if (count > 1) {
    const std::string_view word = arguments[1];
    if (!word.starts_with("-")) refuse_command_without_mark(options, word);
    const std::string_view name = word.substr(0, word.find('=')).substr(std::min<std::size_t>(2, word.size()));
    if (const std::string_view near = session::nearest_option(name, true); word.starts_with("--") && !near.empty()) {
      refuse("bench run has no option " + std::string(word),
             "did you mean --" + std::string(near) + "? `bench run --help` lists all");
    }
    refuse("bench run has no option " + std::string(word),
           "the options are those of a test program without their prefix, --csv for --syscost_csv: `bench run --help` "
           "lists them. The command and its own options come after --: bench run --csv=run.csv -- ./my_tests");
  }
}

/// The rows would be where this program does not look for them.
void refuse_file_of_command(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (!word.starts_with("--syscost_csv")) continue;
    refuse(printable(word) + " is an option of the command, so bench run would not find the rows",
           "write it before --: bench run --csv=FILE -- " + printable(command.front()));
  }
}

/// A shell, a runner of tests, an interpreter: programs that start others, among them perhaps test programs.
bool is_launcher(const ProgramFile& program) {
  if (program.kind == FileKind::script) return true;
  static constexpr std::array<std::string_view, 36> kLaunchers = {
      "bash", "bazel",   "busybox", "chroot",  "chrt",    "cmake",    "ctest", "dash",     "env",
      "fish", "gdb",     "ionice",  "make",    "meson",   "nice",     "ninja", "nohup",    "numactl",
      "perl", "prove",   "rr",      "runuser", "setarch", "setpriv",  "sh",    "stdbuf",   "strace",
      "sudo", "taskset", "time",    "timeout", "unshare", "valgrind", "xargs", "xvfb-run", "zsh"};
  const std::string name = program.process_name();
  return std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end() || name.starts_with("python");
}

/// Tests in a program that the agent cannot enter would go unmeasured, without a word.
void refuse_unreachable_tests(const ProgramFile& program, const std::string& name, const std::string& folder) {
  if (!program.holds_tests) return;
  if (program.is_for_injection) {
    for (const std::string& part : {folder + "/" + agent::kInjectProgram, folder + "/" + agent::kGuestProgram}) {
      if (access(part.c_str(), X_OK) != 0) refuse(part + ": " + std::strerror(errno), "reinstall syscost");
    }
    const inject::Obstacle obstacle = inject::try_tracing();
    if (!obstacle.why.empty()) {
      refuse("nothing can be preloaded into " + name + ", and what is done instead cannot be done: " + obstacle.why,
             obstacle.remedy);
    }
    return;
  }
  if (const auto its = out_of_reach(name, program.kind)) refuse(its->why, its->remedy);
}

/// True where the command is measured as a whole, from outside.
bool is_measured_whole(What what, const ProgramFile& program) {
  if (what == What::by_program) return !program.holds_tests && !is_launcher(program);
  return what == What::process;
}

/// Ends this program where --interval says what cannot be done.
Tick tick_of(const CommandLine& line, bool is_whole) {
  if (line.interval.empty()) return {};
  const std::optional<std::uint64_t> milliseconds = milliseconds_in(line.interval);
  if (!milliseconds) {
    refuse("--interval takes a time from 100ms to 1440m, not " + line.interval,
           "for example --interval=500ms, --interval=1s or --interval=5m");
  }
  if (!is_whole) {
    refuse("--interval divides the time of a command that is measured as a whole, and of " + line.command.front() +
               " the tests are measured",
           "add --process to measure it as a whole, or leave --interval out");
  }
  return {*milliseconds, outside::next_interval};
}

/// Ends this program if the kernel did not execute the command.
void refuse_if_not_started(const CommandLine& line, const CommandEnd& end) {
  if (end.error == 0) return;
  const std::string why = line.command.front() + ": " + std::strerror(end.error);
  if (end.error != E2BIG) refuse(why, "give a program that this machine can execute");
  const std::size_t of_environment = bytes_for(environment_to_pass_on());
  const std::size_t of_ours = of_environment - std::min(of_environment, g_environment_before);
  refuse(why + ": its arguments take " + std::to_string(bytes_for(null_ended(line.command).data())) +
             " bytes and its environment " + std::to_string(of_environment) + ", of which " + std::to_string(of_ours) +
             " are for syscost's variables",
         how_to_make_room(environment_to_pass_on()));
}

/// The program that COMMAND names. Ends this program where there is none.
ProgramFile program_of(const std::string& name) {
  const std::optional<std::string> path = find_program(name);
  if (!path) refuse(name + ": " + std::strerror(errno), "give the path of a program that exists and may be executed");
  const std::optional<ProgramFile> program = read_program(*path);
  if (!program && errno == EISDIR) refuse(name + " is a folder", "give the path of a program in it");
  if (!program) refuse(name + " cannot be read: " + std::strerror(errno), "run it as a user who may read its file");
  return *program;
}

void print_summary(const std::string& folder, const std::string& csv, PassingSignals& signals) {
  std::fflush(nullptr);
  const std::string bench = folder + "/" SYSCOST_BENCH_FROM_LIBEXEC;
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  // The command's output stays its own.
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
  unsetenv("LD_PRELOAD");
  const CommandEnd end = run_command(bench, {"bench", "summary", csv}, signals);
  if (end.error != 0) std::fprintf(stderr, "bench: %s: %s\n", bench.c_str(), std::strerror(end.error));
  dup2(out, STDOUT_FILENO);
  close(out);
}

/// Says why there is no row of a test, as far as that is known.
void report_no_test(const std::string& name, const ProgramFile& program, RowFile::Rows found, const CommandEnd& end) {
  std::string fix = end.exit_code() == 0 ? "" : "see above why it failed: perhaps its first test ended it; or ";
  if (found == RowFile::Rows::of_programs_without_tests) {
    fix =
        "a program began its tests and came to its end, and none of them ran: see above what its environments say. In "
        "GoogleTest\n       an environment with a SetUp() that fails or skips (GTEST_SKIP) leaves out all tests";
  } else if (program.holds_tests) {
    fix += "let it run a test. Perhaps its filter selects none, or another program runs them in its place";
    if (program.is_for_injection) {
      fix += ".\n       A static program that executes itself again is not measured after that: link it dynamically";
    }
  } else {
    fix +=
        "let it start programs of GoogleTest, Google Benchmark, Catch2 or doctest that run a test; or measure it as "
        "a whole:\n       bench run --process -- " +
        name;
  }
  std::fprintf(stderr, "bench: no program below %s reported a test that ended, so nothing was measured\n  fix: %s\n",
               name.c_str(), fix.c_str());
}

/// ctest starts no test then.
bool asks_ctest_for_a_list(const std::vector<std::string>& command) {
  const std::string_view name = std::string_view(command.front()).substr(command.front().rfind('/') + 1);
  if (name != "ctest") return false;
  static constexpr std::array<std::string_view, 6> kLists = {
      "-N", "--print-labels", "--list-presets", "--version", "-h", "-H"};
  return std::any_of(command.begin() + 1, command.end(), [](std::string_view argument) {
    return std::find(kLists.begin(), kLists.end(), argument) != kLists.end() || argument.starts_with("--show-only") ||
           argument.starts_with("--help");
  });
}

/// Measures the tests of the programs below.
int run_tests(const CommandLine& line, const ProgramFile& program, const RowFile& rows, const std::string& folder,
              PassingSignals& signals) {
  const std::string& name = line.command.front();
  refuse_unreachable_tests(program, name, folder);
  rows.check();
  rows.tell_programs();
  set_preload(folder);
  outside::hold_shared();
  const Notes notes(RowFile::file_for_notes());
  std::vector<std::string> command = line.command;
  if (program.is_for_injection) command.insert(command.begin(), {agent::kInjectProgram, program.path_to_execute});
  const CommandEnd end = run_command(
      program.is_for_injection ? folder + "/" + agent::kInjectProgram : program.path_to_execute, command, signals);
  refuse_if_not_started(line, end);
  if (const std::string why = notes.refusal_of(end.process); !why.empty()) report_refused(why);
  report_command(end.status);
  notes.print();
  const RowFile::Rows found = rows.rows_of_this_run();
  tell_ends(notes.ends(end.process, end.status), rows);
  if (found == RowFile::Rows::none && (notes.are_of_lists_only() || asks_ctest_for_a_list(line.command))) {
    std::fprintf(stderr, "bench: %s was asked for a list of tests or for help, so nothing was measured\n",
                 printable(name).c_str());
    return end.exit_code();
  }
  if (found != RowFile::Rows::of_tests) {
    report_no_test(printable(name), program, found, end);
    return end.exit_code() != 0 ? end.exit_code() : kExitNothingMeasured;
  }
  if (!rows.is_named()) print_summary(folder, rows.path(), signals);
  return end.exit_code();
}

/// Measures the command as a whole, with the programs that it starts.
int run_whole(const CommandLine& line, const ProgramFile& program, const RowFile& rows, const std::string& folder,
              PassingSignals& signals, Tick tick) {
  const std::string& name = line.command.front();
  const std::string shown_name = name.substr(name.rfind('/') + 1);
  const std::string library = folder + "/libsyscost-command.so";
  start_outside(program, shown_name, library);
  const char* const children = getenv("SYSCOST_CHILDREN");
  const bool is_by_program = children != nullptr && std::string_view(children) != "0";
  forget_variables();
  if (const std::string memory = outside::memory_of_programs(); !memory.empty()) set_command_preload(library, memory);
  outside::open(shown_name);
  if (tick.milliseconds > 0) outside::open_intervals();
  const CommandEnd end = run_command(program.path_to_execute, line.command, signals, tick);
  if (end.error != 0) outside::discard();
  refuse_if_not_started(line, end);
  report_command(end.status);
  print_not_counted();
  const bool has_all_rows =
      outside::close(is_by_program ? program.process_name() : "", end.has_passed() ? "passed" : "failed");
  if (!rows.is_named()) print_summary(folder, rows.path(), signals);
  return end.exit_code() != 0 || has_all_rows ? end.exit_code() : kExitNothingMeasured;
}

int run(int argc, char** argv) {
  outside::name_flags_of_bench_run();
  g_environment_before = bytes_for(environment_to_pass_on());
  const CommandLine line = split_command_line(argc, argv);
  if (!line.end_report.empty() && !open_end_report(line.end_report)) {
    refuse("--report-end is for bench itself: it names a descriptor", "leave it out");
  }
  check_options(line.options);
  const bool asks = std::any_of(line.options.begin(), line.options.end(), [](const std::string& option) {
    return option == "--doctor" || option == "--syscost_doctor" || option == "--syscost_help";
  });
  if (asks) adapter::start_or_exit({});  // prints, and ends the process
  if (line.command.empty()) {
    refuse("bench run needs a command", "write it after --: bench run -- ./my_tests --gtest_filter='Wal.*'");
  }
  const ProgramFile program = program_of(line.command.front());
  const bool is_whole = is_measured_whole(line.what, program);
  if (!is_whole) refuse_file_of_command(line.command);
  const Tick tick = tick_of(line, is_whole);
  PassingSignals signals(RowFile::remove_temporary);
  const RowFile rows(set_variables(line.options));
  set_run_id();
  const std::string folder = own_folder();
  return is_whole ? run_whole(line, program, rows, folder, signals, tick)
                  : run_tests(line, program, rows, folder, signals);
}

}  // namespace
}  // namespace syscost::bench_run

int main(int argc, char** argv) {
  syscost::survive_size_limit();
  syscost::fill_standard_descriptors();
  return syscost::bench_run::run(argc, argv);
}
