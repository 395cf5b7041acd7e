// SPDX-License-Identifier: MIT
//
// syscost-run: what `bench run [OPTION...] -- COMMAND...` executes. It sets up the programs below it so that each test
// program measures its tests, runs the command, and measures the command as a whole where no test program is below it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/common/variables.h"
#include "agent/inject/permission.h"
#include "bench_run/command.h"
#include "bench_run/out_of_reach.h"
#include "bench_run/own_options.h"
#include "bench_run/program_file.h"
#include "os/null_ended.h"
#include "session/outside.h"
#include "syscost/adapter.h"

namespace syscost::bench_run {
namespace {

constexpr int kExitBadInput = 2;
constexpr int kExitNothingMeasured = 1;

[[noreturn]] void refuse(const std::string& why, const std::string& remedy) {
  std::fprintf(stderr, "bench: %s\n  fix: %s\n", why.c_str(), remedy.c_str());
  std::exit(kExitBadInput);
}

/// The folder of this program, of the agent beside it, and of `bench` in relation to it.
std::string own_folder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string_view text(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(text.substr(0, text.rfind('/')));
}

void check_options(const std::vector<std::string>& options) {
  std::vector<std::string> texts = {"bench"};
  texts.insert(texts.end(), options.begin(), options.end());
  std::vector<char*> arguments = null_ended(texts);
  int count = static_cast<int>(texts.size());
  if (!adapter::take_options(&count, arguments.data())) std::exit(kExitBadInput);
  if (count > 1) {
    refuse("bench run has no option " + std::string(arguments[1]),
           "write the command after --: bench run --csv=run.csv -- ./my_tests. The options are those of a test program "
           "without their prefix: --csv for --syscost_csv");
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

/// The size of the CSV before the command runs. 0 where it is not there yet, or no regular file.
off_t size_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

/// True when rows of this run stand in the CSV after `begin`, or it cannot be read back, as a device: another program
/// may have appended to the file meanwhile.
bool has_rows_of_this_run(const std::string& path, off_t begin) {
  std::ifstream file(path, std::ios::binary);
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return true;
  const char* const run_id = getenv("SYSCOST_RUN_ID");
  if (!file || run_id == nullptr) return false;
  file.seekg(begin);
  const std::string mark = std::string(run_id) + ",";
  for (std::string line; std::getline(file, line);) {
    if (line.find(mark) != std::string::npos) return true;
  }
  return false;
}

/// The file that holds the rows when no CSV is named; removed at the end.
class TemporaryCsv {
 public:
  TemporaryCsv() {
    const std::string in = temporary_folder();
    folder_ = in + "/bench-run-XXXXXX";
    if (in.empty() || mkdtemp(folder_.data()) == nullptr) {
      refuse("no temporary folder can be made: " + folder_ + ": " + std::strerror(errno),
             "set TMPDIR to a folder where you may write, or name a file: bench run --csv=run.csv -- ...");
    }
  }
  TemporaryCsv(const TemporaryCsv&) = delete;
  TemporaryCsv& operator=(const TemporaryCsv&) = delete;
  ~TemporaryCsv() {
    unlink(path().c_str());
    rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/run.csv"; }

 private:
  std::string folder_;
};

std::string working_directory() {
  std::array<char, PATH_MAX> folder{};
  if (getcwd(folder.data(), folder.size()) != nullptr) return folder.data();
  refuse(std::string("the working directory has no path: ") + std::strerror(errno), "change to another one");
}

/// Sets what the programs below read. Returns the CSV, empty where none is named.
std::string set_variables(const std::vector<std::string>& options) {
  for (const Variable& variable : as_variables(options, working_directory())) {
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  }
  const char* const csv = getenv("SYSCOST_CSV");
  if (csv == nullptr || *csv == '\0') return {};
  // Programs below may have another working directory.
  if (*csv != '/') setenv("SYSCOST_CSV", (working_directory() + "/" + csv).c_str(), 1);
  return getenv("SYSCOST_CSV");
}

/// The folder for files that Bazel brings back from the machine that ran a test; empty elsewhere. `--run_under` cannot
/// name it, because Bazel does not expand variables there.
std::string folder_of_bazel() {
  const char* const folder = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr || *folder == '\0') return {};
  return *folder == '/' ? folder : working_directory() + "/" + folder;
}

/// A command that is measured as a whole gets the environment that it has alone. A program below it that is linked with
/// syscost would measure itself, too.
void forget_variables() {
  std::vector<std::string> names;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with("SYSCOST_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

/// AddressSanitizer's library ends a program where another one comes before it. Ours may: it replaces no function that
/// allocates.
void add_asan_order() {
  const char* const asan = getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS",
         (asan != nullptr && *asan != '\0' ? std::string(asan) + ":" + agent::kAsanOrder : agent::kAsanOrder).c_str(),
         1);
}

void set_preload(const std::string& folder) {
  const std::string ours = folder + "/libsyscost-preload.so";
  if (ours.find_first_of(" :") != std::string::npos) {
    refuse("syscost lies in " + folder + ", and LD_PRELOAD cannot hold a path with a blank or a colon",
           "install it in a folder without them");
  }
  if (access(ours.c_str(), R_OK) != 0) refuse(ours + ": " + std::strerror(errno), "reinstall syscost");
  const char* const theirs = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", theirs != nullptr && *theirs != '\0' ? (ours + ":" + theirs).c_str() : ours.c_str(), 1);
  setenv(agent::kPreloadVariable, ours.c_str(), 1);
  add_asan_order();
}

/// One run of test programs that start one after another, or side by side, has one id.
void set_run_id() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string id = std::string(host.data()) + "-" + std::to_string(getpid()) + "-" + std::to_string(now.tv_sec);
  setenv("SYSCOST_RUN_ID", id.c_str(), 0);
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

/// Why the programs of a command cannot count themselves; empty where they can.
std::string obstacle_inside(const ProgramFile& program, const std::string& name, const std::string& library) {
  ProgramFile file = program;
  if (file.kind == FileKind::script) {
    const std::optional<std::string> path = find_program(file.interpreter);
    const std::optional<ProgramFile> found = path ? read_program(*path) : std::nullopt;
    if (!found) return file.interpreter + ", which runs " + name + ", cannot be read";
    file = *found;
  }
  switch (file.kind) {
    case FileKind::static_linked:
      return name + " is linked statically";
    case FileKind::other_libc:
      return name + " uses another C library than glibc";
    case FileKind::other_machine:
      return name + " is a 32-bit program or one for another processor";
    case FileKind::privileged:
      return name + " is set-uid, set-gid or has file capabilities, so the loader preloads nothing into it";
    case FileKind::script:
    case FileKind::dynamic_glibc:
      break;
  }
  if (library.find_first_of(" :") != std::string::npos) {
    return "syscost lies in a folder with a blank or a colon in its path, which LD_PRELOAD cannot hold";
  }
  return access(library.c_str(), R_OK) != 0 ? library + ": " + std::strerror(errno) : std::string();
}

/// Lets each program of the command count itself.
void set_command_preload(const std::string& library, const std::string& memory) {
  const char* const theirs = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", theirs != nullptr && *theirs != '\0' ? (library + ":" + theirs).c_str() : library.c_str(), 1);
  setenv(agent::kCommandVariable, memory.c_str(), 1);
  add_asan_order();
}

/// Each part of the command that is not in its rows.
void print_not_counted() {
  for (const outside::NotCounted& one : outside::not_counted()) {
    std::string why = one.why;
    if (const auto program = one.is_program_file ? read_program(one.what) : std::nullopt; program) {
      if (const std::string obstacle = obstacle_inside(*program, one.what, {}); !obstacle.empty()) why = obstacle;
    }
    std::fprintf(stderr,
                 "bench: not in the counts: %s: %s\n"
                 "  fix: use --backend=seccomp or --backend=ebpf, which count it, too\n",
                 one.what.c_str(), why.c_str());
  }
}

/// Ends this program where the command cannot be measured from outside.
void start_outside(const ProgramFile& program, const std::string& name, const std::string& library) {
  std::array<char, 8> us{"bench"};
  std::array<char, 32> children{"--syscost_children"};
  std::array<char*, 3> arguments{us.data(), children.data(), nullptr};
  int count = 2;
  if (!adapter::take_options(&count, arguments.data())) std::exit(kExitBadInput);
  if (const std::optional<Unavailable> why =
          outside::start(name, program.build_id, obstacle_inside(program, name, library)))
    refuse(why->reason, why->how_to_fix);
  if (program.kind == agent::FileKind::privileged && outside::takes_rights()) {
    refuse(name + " is set-uid, set-gid or has file capabilities, and would run without them under backend seccomp",
           "measure it with --backend=ebpf, which needs CAP_BPF and CAP_PERFMON");
  }
}

void print_summary(const std::string& folder, const std::string& csv) {
  std::fflush(nullptr);
  const std::string bench = folder + "/" SYSCOST_BENCH_FROM_LIBEXEC;
  const int out = dup(STDOUT_FILENO);
  // The command's output stays its own: without standard error there is no summary.
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
  unsetenv("LD_PRELOAD");
  const CommandEnd end = run_command(bench, {"bench", "summary", csv});
  if (end.error != 0) std::fprintf(stderr, "bench: %s: %s\n", bench.c_str(), std::strerror(end.error));
  dup2(out, STDOUT_FILENO);
  close(out);
}

int run(int argc, char** argv) {
  const CommandLine line = split_command_line(argc, argv);
  check_options(line.options);
  const bool asks = std::any_of(line.options.begin(), line.options.end(), [](const std::string& option) {
    return option == "--doctor" || option == "--syscost_doctor" || option == "--syscost_help";
  });
  if (asks) adapter::start_or_exit({});  // prints, and ends the process
  if (line.command.empty()) {
    refuse("bench run needs a command", "write it after --: bench run -- ./my_tests --gtest_filter='Wal.*'");
  }
  const std::string& name = line.command.front();
  const std::optional<std::string> path = find_program(name);
  if (!path) refuse(name + ": " + std::strerror(errno), "give the path of a program that exists and may be executed");
  const std::optional<ProgramFile> program = read_program(*path);
  if (!program) refuse(name + " cannot be read: " + std::strerror(errno), "run it as a user who may read its file");

  const std::string folder = own_folder();
  static std::optional<TemporaryCsv> temporary;  // refuse() ends the process, and removes it
  std::string csv = set_variables(line.options);
  const bool prints_summary = csv.empty();
  if (csv.empty()) {
    const std::string folder_to_keep = folder_of_bazel();
    csv = folder_to_keep.empty() ? temporary.emplace().path() : folder_to_keep + "/syscost.csv";
    setenv("SYSCOST_CSV", csv.c_str(), 1);
  }
  set_run_id();
  const std::string shown_name = name.substr(name.rfind('/') + 1);
  const bool is_whole = is_measured_whole(line.what, *program);
  const Tick tick = tick_of(line, is_whole);
  std::optional<Notes> notes;
  const std::string command_library = folder + "/libsyscost-command.so";
  if (is_whole) {
    start_outside(*program, shown_name, command_library);
  } else {
    refuse_unreachable_tests(*program, name, folder);
    set_preload(folder);
    outside::hold_shared();
    notes.emplace();
  }
  const off_t size_before = size_of(csv);
  const char* const children = getenv("SYSCOST_CHILDREN");
  const bool is_by_program = children != nullptr && std::string_view(children) != "0";
  if (is_whole) {
    forget_variables();
    if (const std::string memory = outside::command_memory(); !memory.empty()) {
      set_command_preload(command_library, memory);
    }
    outside::open(shown_name);
    if (tick.milliseconds > 0) outside::open_intervals();
  }
  const bool is_injected = !is_whole && program->is_for_injection;
  std::vector<std::string> command = line.command;
  if (is_injected) command.insert(command.begin(), {agent::kInjectProgram, *path});
  const CommandEnd end = run_command(is_injected ? folder + "/" + agent::kInjectProgram : *path, command, tick);
  bool has_all_rows = true;
  if (is_whole && end.error == 0) {
    print_not_counted();
    has_all_rows = outside::close(is_by_program ? program->process_name() : "", end.has_passed() ? "passed" : "failed");
  } else if (is_whole) {
    outside::discard();
  }
  if (end.error != 0) refuse(name + ": " + std::strerror(end.error), "give a program that this machine can execute");
  if (notes) notes->print();
  if (!is_whole && !has_rows_of_this_run(csv, size_before)) {
    std::fprintf(
        stderr,
        "bench: no program below %s reported a test, so nothing was measured\n"
        "  fix: let it start programs of GoogleTest, Google Benchmark, Catch2 or doctest; or measure it as a whole:\n"
        "       bench run --process -- %s\n",
        name.c_str(), name.c_str());
    return end.exit_code() != 0 ? end.exit_code() : kExitNothingMeasured;
  }
  if (prints_summary) print_summary(folder, csv);
  return end.exit_code() != 0 || has_all_rows ? end.exit_code() : kExitNothingMeasured;
}

}  // namespace
}  // namespace syscost::bench_run

int main(int argc, char** argv) {
  return syscost::bench_run::run(argc, argv);
}
