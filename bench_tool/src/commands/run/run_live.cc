// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>

#include "commands/run/run_programs.h"
#include "commands/watch/watch.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "os/signals.h"
#include "os/temporary_folder.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;

/// Where the CSV is if the user names none. Static, so that a signal removes it.
std::optional<RunFolder> g_folder;

void remove_folder() {
  if (g_folder) g_folder->remove();
}

/// The value of `--name=VALUE` or `--name VALUE` before `--`.
std::optional<std::string> value_of(const std::vector<std::string>& arguments, const std::string& name) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with(name + "=")) return arguments[i].substr(name.size() + 1);
    if (arguments[i] == name && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return std::nullopt;
}

/// The CSV that the user names; empty = none.
std::string named_csv(const std::vector<std::string>& arguments) {
  if (const auto csv = value_of(arguments, "--csv")) return *csv;
  if (const auto csv = value_of(arguments, "--syscost_csv")) return *csv;
  const char* const variable = ::getenv("SYSCOST_CSV");
  return variable != nullptr ? variable : "";
}

render::Screen screen_of_stderr() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
  return {size.ws_col, size.ws_row};
}

/// The screen while the command runs.
class View {
 public:
  View(const cli::Options& options, std::string csv)
      : options_(options),
        csv_(std::move(csv)),
        rows_(options, csv_),
        is_terminal_(::isatty(STDERR_FILENO) == 1 && render::user_takes_color()) {}

  /// Shows intervals that were written since the last time.
  void refresh() {
    if (!rows_.read()) return;
    const WatchedRun& run = rows_.newest();
    if (is_terminal_) return draw(run);
    const std::size_t all = run.intervals.size();
    for (std::size_t at = all - rows_.new_intervals(); at < all; ++at) std::cerr << interval_line(run, at);
  }

  void show_end() {
    refresh();
    if (!is_terminal_ || rows_.intervals() == 0) return;
    csv::Problems ignored;
    constexpr std::size_t kMost = 10;
    const std::string unusual = unusual_text(load_watched(options_, csv_, ignored), kMost, render::Paint(true));
    std::cerr << (unusual.empty() ? "" : "\n") << unusual;
  }

 private:
  void draw(const WatchedRun& run) {
    constexpr const char* kClear = "\033[H\033[2J";
    std::cerr << kClear << newest_interval_text(run, screen_of_stderr(), render::Paint(true)) << std::flush;
  }

  const cli::Options& options_;
  std::string csv_;
  LiveRows rows_;
  bool is_terminal_;
};

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Starts syscost-run. Returns its process, or -1 with errno.
pid_t start(const std::string& program, std::vector<std::string>& arguments, const struct sigaction& of_children) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::sigaction(SIGCHLD, &of_children, nullptr);
  ::execv(program.c_str(), pointers.data());
  fmt::print(stderr, "bench: {}\n", no_runner(program, "bench run", errno));
  ::_exit(cli::kExitBadInput);
}

}  // namespace

int run_live(const std::string& program, std::vector<std::string> arguments, const cli::Options& options) {
  PassingSignals signals(remove_folder);
  std::string csv = named_csv(arguments);
  const char* const to_keep = ::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (csv.empty() && to_keep != nullptr && *to_keep != '\0') csv = std::string(to_keep) + "/syscost.csv";
  if (csv.empty()) {
    std::error_code error;
    g_folder.emplace(fs::temp_directory_path(error).string());
    if (!g_folder->is_made()) {
      fmt::print(stderr, "bench: no temporary folder can be made in {}: {}; set TMPDIR, or name a file: --csv FILE\n",
                 g_folder->path(), std::strerror(errno));
      return cli::kExitBadInput;
    }
    csv = g_folder->rows();
  }
  if (named_csv(arguments).empty()) arguments.insert(arguments.begin() + 1, "--csv=" + csv);
  if (!value_of(arguments, "--interval")) arguments.insert(arguments.begin() + 1, "--interval=1s");
  // The file may hold other runs.
  cli::Options own = options;
  const char* const given = ::getenv("SYSCOST_RUN_ID");
  const std::string id =
      given != nullptr && *given != '\0'
          ? csv::printable(given)  // as it will stand in the file
          : fmt::format("live-{}-{}", ::getpid(), std::chrono::system_clock::now().time_since_epoch().count());
  ::setenv("SYSCOST_RUN_ID", id.c_str(), 1);
  own.run_ids = {id};
  struct sigaction of_children {};
  struct sigaction waiting {};
  waiting.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &waiting, &of_children);
  View view(own, csv);
  PassingSignals::begin_command();
  const pid_t child = start(program, arguments, of_children);
  if (child < 0) {
    fmt::print(stderr, "bench: no process can be started: {}\n", std::strerror(errno));
    return cli::kExitBadInput;
  }
  // The table stays until the command has ended.
  signals.set_command(child);
  int status = 0;
  for (bool has_ended = false; !has_ended;) {
    constexpr int kBetweenLooks_ms = 100;
    ::poll(nullptr, 0, kBetweenLooks_ms);
    siginfo_t info{};
    const int waited = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    has_ended = waited != 0 ? errno != EINTR : info.si_pid != 0;
    view.refresh();
  }
  signals.end_command();
  if (::waitpid(child, &status, 0) < 0) return cli::kExitBadInput;
  view.show_end();
  return exit_code_of(status);
}

}  // namespace syscost::bench::commands
