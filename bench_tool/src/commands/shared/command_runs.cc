// SPDX-License-Identifier: MIT
#include "commands/shared/command_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "csv/text.h"
#include "os/files.h"
#include "os/temporary_folder.h"

namespace syscost::bench::commands {

namespace {

/// Our environment, with `variables` instead of ours with the same names.
std::vector<char*> environment_with(std::vector<std::string>& variables) {
  std::vector<char*> pointers;
  for (char** one = environ; *one != nullptr; ++one) {
    const bool is_set_anew = std::any_of(variables.begin(), variables.end(), [&](const std::string& variable) {
      return std::string_view(*one).starts_with(variable.substr(0, variable.find('=') + 1));
    });
    if (!is_set_anew) pointers.push_back(*one);
  }
  for (std::string& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

}  // namespace

std::string tail_of(const std::string& output) {
  constexpr int kLines = 10;
  std::size_t begin = output.size();
  for (int lines = 0; begin > 0 && lines <= kLines; --begin) {
    if (output[begin - 1] == '\n' && begin != output.size() && ++lines == kLines) break;
  }
  std::string tail = output.substr(begin);
  if (!tail.empty() && tail.back() != '\n') tail += '\n';
  return tail;
}

std::string status_text(int status) {
  if (WIFEXITED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
}

ChildEnd run_child(std::vector<std::string> args, const std::function<void(std::string_view)>& take,
                   std::vector<std::string> variables) {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {errno, 0};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  std::vector<char*> pointers;
  pointers.reserve(args.size() + 1);
  for (std::string& arg : args) pointers.push_back(arg.data());
  pointers.push_back(nullptr);
  const std::vector<char*> environment = environment_with(variables);
  pid_t child = 0;
  const auto begin = std::chrono::steady_clock::now();
  const int error = ::posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  if (error != 0) {
    ::close(pipe_ends[0]);
    return {error, 0};
  }
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe_ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
  ::close(pipe_ends[0]);
  ChildEnd end;
  struct rusage usage {};
  while (::wait4(child, &end.status, 0, &usage) < 0 && errno == EINTR) {
  }
  end.wall_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  end.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  return end;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "{program}";

std::atomic<bool> interrupted = false;  // another thread may get the signal
int requests = 0;
constexpr std::array<int, 3> kRequests = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kRequests.size()> before_us;

void note_interrupt(int /*signal*/) {
  interrupted = true;
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

InterruptRequest::InterruptRequest() {
  if (requests++ > 0) return;  // a request to the outer one holds
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kRequests.size(); ++i) ::sigaction(kRequests[i], &action, &before_us[i]);
}

InterruptRequest::~InterruptRequest() {
  if (--requests > 0) return;
  for (std::size_t i = 0; i < kRequests.size(); ++i) ::sigaction(kRequests[i], &before_us[i], nullptr);
}

bool InterruptRequest::is_made() {
  return interrupted;
}

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool OwnRun::has_csv() const {
  std::error_code ignored;
  return fs::exists(csv, ignored);
}

CommandRuns::CommandRuns(double budget_s, std::size_t most, std::ostream& err, const std::string& keep, Clock clock)
    : budget_s_(budget_s),
      most_(most),
      err_(err),
      is_kept_(!keep.empty()),
      progress_(err),
      clock_(std::move(clock)),
      begin_s_(clock_()) {
  std::error_code error;
  if (is_kept_) {
    folder_ = fs::absolute(keep, error);
    fs::create_directories(folder_, error);
    if (!error && !fs::is_empty(folder_, error) && !error) {
      fault_ = fmt::format("--keep {}: the folder holds files already; give a new one", keep);
    }
  } else {
    const fs::path prefix = fs::temp_directory_path(error) / "syscost-ab.";
    if (!error) folder_ = make_own_folder(prefix.string());
    if (!error && folder_.empty()) {
      fault_ = fmt::format("no folder for the files of the runs, {}...: {}", prefix.string(), std::strerror(errno));
    }
  }
  if (error) fault_ = fmt::format("no folder for the files of the runs, {}: {}", folder_.string(), error.message());
}

CommandRuns::~CommandRuns() {
  if (is_kept_ || folder_.empty()) return;
  const std::string left = text_of(remove_tree(folder_));
  if (!left.empty()) err_ << "bench: not removed: " << csv::printable(left) << '\n';
}

bool CommandRuns::may_go_on() const {
  return !InterruptRequest::is_made() && (rounds_ == 0 || (rounds_ < most_ && rounds_that_fit() > 0));
}

std::size_t CommandRuns::rounds_that_fit() const {
  constexpr double kShortestRound = 1e-9;
  const double elapsed = elapsed_s();
  const double round_s = rounds_ == 0 ? 0 : elapsed / static_cast<double>(rounds_);
  // Whole rounds: a round that ends a moment too late does not fit. The bound keeps the number in a size_t.
  return static_cast<std::size_t>(std::clamp((budget_s_ - elapsed) / std::max(round_s, kShortestRound), 0.0, 1e9));
}

std::string CommandRuns::text() const {
  std::string out = fmt::format("{} further run{}", rounds_, rounds_ == 1 ? "" : "s");
  // Less is no time that anybody waits for.
  if (elapsed_s() >= 1) out += fmt::format(" ({:.1f} s)", elapsed_s());
  if (with_status_ > 0) out += fmt::format(", {} of the commands ended with {}", with_status_, last_status_);
  if (InterruptRequest::is_made()) return out + ", interrupted";
  if (rounds_ > 0 && rounds_ < most_ && !may_go_on()) out += fmt::format(", the budget of {:g} s is used", budget_s_);
  return out;
}

OwnRun CommandRuns::run(const std::vector<std::string>& command, const fs::path& csv, const std::string& run_id,
                        std::vector<std::string> variables) {
  OwnRun run;
  run.csv = csv.string();
  variables.push_back("SYSCOST_CSV=" + run.csv);
  variables.push_back("SYSCOST_RUN_ID=" + run_id);
  const auto keep_end = [&](std::string_view piece) {
    constexpr std::size_t kKept = 1 << 16;  // only the end is ever shown; a test may print gigabytes
    run.output += piece;
    if (run.output.size() > 2 * kKept) run.output.erase(0, run.output.size() - kKept);
  };
  std::error_code error;
  fs::create_directories(csv.parent_path(), error);
  if (error) {
    run.fault = fmt::format("has no folder for its files, {}: {}\n", csv.parent_path().string(), error.message());
    return run;
  }
  run.end = run_child(command, keep_end, std::move(variables));
  if (run.end.error != 0) {
    run.fault = fmt::format("cannot be run: {}\n", std::generic_category().message(run.end.error));
  }
  return run;
}

std::string CommandRuns::run_once(const std::vector<std::string>& command, std::string& csv) {
  ++runs_;
  std::vector<std::string> variables;
  if (asks_for_leaks_) variables.emplace_back("SYSCOST_LEAKS=1");
  const OwnRun one = run(command, folder_ / fmt::format("{:06}.csv", runs_), fmt::format("further-{:06}", runs_),
                         std::move(variables));
  csv = one.csv;
  if (InterruptRequest::is_made()) return {};
  const std::string text = fmt::format("{}", fmt::join(command, " "));
  if (!one.fault.empty()) return fmt::format("{} {}", text, one.fault);
  if (one.has_csv()) {
    // Tests that fail end a command with a status, too: what passed is in the file.
    if (one.end.status != 0) {
      ++with_status_;
      last_status_ = status_text(one.end.status);
      last_output_ = tail_of(one.output);
    }
    return {};
  }
  if (one.end.status != 0) {
    return fmt::format("{} failed and wrote no CSV: {}. It printed:\n{}", text, status_text(one.end.status),
                       tail_of(one.output));
  }
  return fmt::format(
      "{} wrote no CSV: it is not linked with syscost, or it names its own file (--syscost_csv, or SYSCOST_CSV in a "
      "test's own environment)\n  fix: write `bench run --` before it, or let it name no file\n",
      text);
}

std::string CommandRuns::run_round(const std::set<std::string>& programs, std::size_t waiting,
                                   const std::function<const std::vector<std::string>&()>& command_of,
                                   const std::function<std::string(const std::string& csv)>& take) {
  bool is_whole = false;
  for (const std::string& program : programs) {
    if (is_whole || InterruptRequest::is_made()) break;
    const std::vector<std::string>& command = command_of();
    is_whole = !is_by_program(command);
    progress_.show(fmt::format("run {} of at most {}, {:.0f} s of {:g} s, {} test{} undecided{}", rounds_ + 1, most_,
                               elapsed_s(), budget_s_, waiting, waiting == 1 ? "" : "s",
                               is_whole ? "" : ": " + program));
    std::string csv;
    std::string fault = run_once(with_program(command, program), csv);
    progress_.clear();
    if (fault.empty() && !InterruptRequest::is_made()) fault = take(csv);
    if (!fault.empty()) return fault;
  }
  if (!InterruptRequest::is_made()) ++rounds_;
  return {};
}

}  // namespace syscost::bench::commands
