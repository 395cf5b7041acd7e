// SPDX-License-Identifier: MIT
#include "bench_run/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "bench_run/options.h"
#include "os/command_line.h"
#include "os/text.h"
#include "session/outside.h"
#include "syscost/adapter.h"

namespace syscost::bench_run {
namespace {

int g_report = -1;

void report(std::string line) {
  if (g_report < 0) return;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  for (std::string_view left = line; !left.empty();) {
    const ssize_t written = write(g_report, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool open_end_report(std::string_view number) {
  int file = -1;
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), file);
  if (error != std::errc() || rest != number.data() + number.size() || file <= STDERR_FILENO) return false;
  if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0) return false;
  g_report = file;
  return true;
}

void report_refused(const std::string& why) {
  report("refused " + why);
}

void report_command(int status) {
  report("command " + std::to_string(status));
}

namespace {

/// Waits for the end of a child, and leaves its status for waitpid().
class EndOf {
 public:
  explicit EndOf(pid_t process) : process_(process), fd_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {}
  EndOf(const EndOf&) = delete;
  EndOf& operator=(const EndOf&) = delete;
  ~EndOf() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// True once the child has ended. May return earlier than asked.
  bool comes_within(std::int64_t milliseconds) const {
    // Without a descriptor of the process, as below a filter of a container, looks at it now and then.
    constexpr std::int64_t kBetweenLooks_ms = 20;
    pollfd end{fd_, POLLIN, 0};
    const std::int64_t longest = fd_ >= 0 ? INT_MAX : kBetweenLooks_ms;
    const int ready =
        poll(&end, fd_ >= 0 ? 1 : 0, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, longest)));
    if (fd_ >= 0) return ready > 0;
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  }

 private:
  pid_t process_;
  int fd_;
};

void tick_until_end(pid_t process, Tick tick) {
  using Clock = std::chrono::steady_clock;
  const EndOf end(process);
  const auto length = std::chrono::milliseconds(tick.milliseconds);
  for (Clock::time_point until = Clock::now() + length;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (end.comes_within(left)) return;
    if (Clock::now() < until) continue;
    tick.make();
    // If ticks were missed, for example while this process was stopped, one is made for all of them.
    for (const auto now = Clock::now(); until <= now;) until += length;
  }
}

}  // namespace

int CommandEnd::exit_code() const {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

CommandEnd run_command(const std::string& path, const std::vector<std::string>& command, PassingSignals& signals,
                       Tick tick) {
  const std::vector<char*> arguments = null_ended(command);
  // A file that the kernel does not know is a script without its first line: the shell runs it.
  std::vector<std::string> shell_texts = {"sh", path};
  shell_texts.insert(shell_texts.end(), command.begin() + 1, command.end());
  const std::vector<char*> shell_arguments = null_ended(shell_texts);

  // Where SIGCHLD is ignored, the kernel throws the end of a child away. The command must find it ignored, too.
  struct sigaction of_children {};
  struct sigaction waiting {};
  waiting.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &waiting, &of_children);
  const bool ignores_children = of_children.sa_handler == SIG_IGN;

  static volatile int error = 0;
  error = 0;
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): the child restores SIGCHLD only.
  // fork() would make calls of its own in the child, and they would be counted as the command's.
  PassingSignals::begin_command();
  const pid_t child = vfork();
  if (child == 0) {
    if (ignores_children) sigaction(SIGCHLD, &of_children, nullptr);
    execv(path.c_str(), arguments.data());
    if (errno == ENOEXEC) execv("/bin/sh", shell_arguments.data());
    error = errno;
    _exit(127);
  }
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  CommandEnd end;
  if (child < 0) end.error = errno;
  end.process = child;
  signals.set_command(child);
  if (child > 0) {
    if (tick.milliseconds > 0) tick_until_end(child, tick);
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    signals.end_command();
    if (waitpid(child, &end.status, 0) < 0) end.error = errno;
    if (error != 0) end.error = error;
  }
  sigaction(SIGCHLD, &of_children, nullptr);
  return end;
}

namespace {

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
  if (!may_be_preloaded(library)) {
    return "syscost lies in a folder with a blank, a colon, $ORIGIN, $LIB or $PLATFORM in its path, which LD_PRELOAD "
           "cannot hold";
  }
  if (library.empty()) return {};
  return access(library.c_str(), R_OK) != 0 ? library + ": " + std::strerror(errno) : std::string();
}

}  // namespace

void print_not_counted() {
  for (const outside::NotCounted& one : outside::not_counted()) {
    std::string why = one.why;
    if (const auto program = one.is_program_file ? read_program(one.what) : std::nullopt; program) {
      if (const std::string obstacle = obstacle_inside(*program, one.what, {}); !obstacle.empty()) why = obstacle;
    }
    std::fprintf(stderr,
                 "bench: not in the counts: %s: %s\n"
                 "  fix: use --backend=seccomp or --backend=ebpf, which count it, too\n",
                 printable(one.what).c_str(), printable(why).c_str());
  }
}

void start_outside(const ProgramFile& program, const std::string& name, const std::string& library) {
  std::array<char, 8> us{"bench"};
  std::array<char*, 2> arguments{us.data(), nullptr};
  int count = 1;
  if (!adapter::take_options(&count, arguments.data())) {
    report_refused("an option has a bad value");
    std::exit(kExitBadInput);
  }
  if (const std::optional<Unavailable> why =
          outside::start(name, program.build_id, obstacle_inside(program, name, library)))
    refuse(why->reason, why->how_to_fix);
  if (program.kind == agent::FileKind::privileged && outside::takes_rights()) {
    refuse(name + " is set-uid, set-gid or has file capabilities, and would run without them under backend seccomp",
           "measure it with --backend=ebpf, which needs CAP_BPF and CAP_PERFMON");
  }
}

}  // namespace syscost::bench_run
