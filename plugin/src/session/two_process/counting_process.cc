// SPDX-License-Identifier: MIT
//
// The counting process: this program run again, with a pipe through which it sends what it counts.
//
// One variable tells it so, SYSCOST_INTERNAL_COUNTING=PID:DESCRIPTOR:ORDERS. Because of the process id it is meant for
// no other process: programs that a measured body starts inherit the variable. Google Benchmark's own main executes
// itself once more, which keeps the id.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "os/fork_detector.h"
#include "os/environment.h"
#include "os/high_fd.h"
#include "os/signal_hold.h"
#include "session/process_session.h"
#include "session/two_process/timing_process.h"
#include "syscost/counting.h"

namespace syscost::adapter {
namespace {

constexpr const char* kVariable = "SYSCOST_INTERNAL_COUNTING";
constexpr std::string_view kWhole = "\x04";    // the last line: everything was sent
constexpr std::string_view kLeaving = "\x05";  // exit() or quick_exit() was called
/// On stderr, another pipe: the first was closed by what is counted, so that nothing more can be sent.
constexpr std::string_view kClosed = "\x06";
constexpr std::size_t kShownErrorBytes = 2000;

// ---- in the counting process ----------------------------------------------------------------------------------------

struct ChildProcessArgs {
  bool is_counting = false;
  int pipe = -1;
  ino_t inode = 0;  // of the pipe
  std::string text;
};

ChildProcessArgs read_child_arguments() {
  ChildProcessArgs arguments;
  const char* value = variable(kVariable);
  if (value == nullptr) return arguments;
  const std::string_view text = value;
  int pid = 0;
  const char* end = text.data() + text.size();
  auto [after_pid, pid_error] = std::from_chars(text.data(), end, pid);
  if (pid_error != std::errc() || after_pid == end || *after_pid != ':' || pid != getpid()) return arguments;
  auto [after_pipe, pipe_error] = std::from_chars(after_pid + 1, end, arguments.pipe);
  if (pipe_error != std::errc() || after_pipe == end || *after_pipe != ':') return arguments;
  struct stat status {};
  if (fstat(arguments.pipe, &status) == 0) arguments.inode = status.st_ino;
  arguments.text.assign(after_pipe + 1, end);
  arguments.is_counting = true;
  return arguments;
}

/// Read once, in the process that they were addressed to.
const ChildProcessArgs& arguments() {
  static const auto* const read = new ChildProcessArgs(read_child_arguments());
  return *read;
}

const ForkDetector& guard() {
  static const auto* const made = new ForkDetector;
  return *made;
}

void write_all(int fd, std::string_view text) {
  const SignalHold no_reader(SIGPIPE);
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Into the pipe. What is counted may have closed it, and its number may be another file's by now.
void send(std::string_view text) {
  struct stat status {};
  if (fstat(arguments().pipe, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == arguments().inode) {
    // What the program executes need not see the pipe.
    fcntl(arguments().pipe, F_SETFD, FD_CLOEXEC);
    write_all(arguments().pipe, text);
    return;
  }
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true)) write_all(STDERR_FILENO, kClosed);
}

/// Lets the other process know an end by exit() from one by _exit(), or by executing another program.
void announce_leaving() {
  static const bool is_done = [] {
    const auto leave = [] {
      if (is_counting_process()) send(std::string(kLeaving) + '\n');
    };
    return std::atexit(leave) == 0 && std::at_quick_exit(leave) == 0;
  }();
  static_cast<void>(is_done);
}

// ---- in the process that starts it ----------------------------------------------------------------------------------

std::string ending(int status, bool is_silent) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return "was killed by " + (name != nullptr ? "SIG" + std::string(name) : std::to_string(WTERMSIG(status)));
  }
  const std::string code = "ended with exit code " + std::to_string(WEXITSTATUS(status));
  return is_silent ? code + ", by _exit() or as another program that it executed," : code;
}

/// The end of what comes through a pipe. Not of a file, be it in memory: the program may run under a limit of their
/// size.
class Tail {
 public:
  /// Reads what is there, without waiting; false at the end.
  bool read_from(int fd) {
    std::array<char, 4096> bytes{};
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    text_.append(bytes.data(), static_cast<std::size_t>(got));
    if (text_.size() > kShownErrorBytes) text_.erase(0, text_.size() - kShownErrorBytes);
    return got > 0;
  }
  std::string text() const {
    const std::size_t end = text_.find_last_not_of('\n');
    return end == std::string::npos ? std::string() : text_.substr(0, end + 1);
  }

 private:
  std::string text_;
};

/// Takes `mark` out of `text`; true when it was there.
bool take_mark(std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return false;
  text.erase(at, mark.size());
  return true;
}

/// What the child needs, made before fork(): afterwards nothing may allocate.
struct Launch {
  std::vector<std::string> arguments = started_with();
  std::vector<std::string> variables;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::string request;
  char own[64 + 4096] = {};  // kVariable=PID:DESCRIPTOR:REQUEST

  explicit Launch(std::string_view its_request) : request(its_request.substr(0, 4000)) {
    for (std::string& entry : environment_to_pass_on()) {
      if (!entry.starts_with(kVariable)) variables.push_back(std::move(entry));
    }
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    for (std::string& variable : session::variables_for_counting_process()) variables.push_back(std::move(variable));
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(own);
    envp.push_back(nullptr);
  }
};

[[noreturn]] void become_counting_process(Launch& launch, int pipe, int errors, pid_t parent) {
  // Without its parent no process would read its counts.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0) {
    _exit(127);
  }
  fcntl(pipe, F_SETFD, 0);
  std::snprintf(launch.own, sizeof launch.own, "%s=%d:%d:%s", kVariable, static_cast<int>(getpid()), pipe,
                launch.request.c_str());
  execve("/proc/self/exe", launch.argv.data(), launch.envp.data());
  _exit(127);
}

/// Cuts what comes through the pipe into lines.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  /// Reads what is there; false at the end.
  bool read_from(int fd) {
    char bytes[65536];
    const ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    text_.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      const std::string_view line = std::string_view(text_).substr(0, end);
      if (line == kWhole) {
        is_whole_ = true;
      } else if (line == kLeaving) {
        is_leaving_ = true;
      } else {
        has_spoken_ = true;
        on_line_(line);
      }
    }
    return got > 0;
  }
  bool is_whole() const { return is_whole_; }
  /// It would have said that it calls exit(), but ended without.
  bool is_silent() const { return has_spoken_ && !is_leaving_; }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string text_;
  bool is_whole_ = false;
  bool is_leaving_ = false;
  bool has_spoken_ = false;
};

/// Reads until the process has ended. Not until the pipes have: what the process left running may hold them open, and
/// write without end.
int read_until_end(pid_t child, int pipe, int errors, Lines& lines, Tail& tail,
                   const std::function<void(int)>& on_wait) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTickMs = 100;
  constexpr int kMostReadsAfterwards = 64;  // more than the pipes hold
  bool is_open = true;
  bool has_errors = true;
  Clock::time_point last_line = Clock::now();
  int said_seconds = 0;
  const auto read_what_is_there = [&](int timeout_ms) {
    std::array<pollfd, 2> ready{{{is_open ? pipe : -1, POLLIN, 0}, {has_errors ? errors : -1, POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), timeout_ms) <= 0) return false;
    if (ready[1].revents != 0) has_errors = tail.read_from(errors);
    if (ready[0].revents == 0) return true;
    is_open = lines.read_from(pipe);
    last_line = Clock::now();
    said_seconds = 0;
    return true;
  };
  int status = 0;
  for (;;) {
    read_what_is_there(kTickMs);
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno == ECHILD)) break;
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - last_line).count();
    while (waited > said_seconds) on_wait(++said_seconds);
  }
  // What it wrote between the last look and its end.
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  for (int i = 0; i < kMostReadsAfterwards && (is_open || has_errors) && read_what_is_there(0); ++i) continue;
  return status;
}

}  // namespace

std::vector<std::string> started_with() {
  return session::process_arguments();
}

bool is_counting_process() {
  return arguments().is_counting && !guard().is_fork_child();
}

std::string counting_orders() {
  return arguments().text;
}

void send_line(std::string_view line) {
  if (!is_counting_process()) return;
  announce_leaving();
  std::string text(line);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\t') c = ' ';
  }
  send(text + '\n');
}

void end_counting() {
  if (is_counting_process()) send(std::string(kWhole) + '\n');
  _exit(0);
}

CountingEnd run_counting_process(const std::string& arguments, const std::function<void(std::string_view)>& on_line,
                                 const std::function<void(int seconds)>& on_wait) {
  CountingEnd end;
  Launch launch(arguments);
  int pipe[2] = {-1, -1};
  int errors[2] = {-1, -1};
  if (pipe2(errors, O_CLOEXEC) != 0 || pipe2(pipe, O_CLOEXEC) != 0) {
    end.how = std::string("could not be started: ") + std::strerror(errno);
    for (const int fd : errors) {
      if (fd >= 0) close(fd);
    }
    return end;
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become_counting_process(launch, move_fd_high(pipe[1]), errors[1], parent);
  close(pipe[1]);
  close(errors[1]);
  Lines lines(on_line);
  Tail tail;
  if (child < 0) {
    end.how = std::string("could not be started: ") + std::strerror(errno);
  } else {
    const int status = read_until_end(child, pipe[0], errors[0], lines, tail, on_wait);
    end.is_whole = lines.is_whole();
    end.is_silent = WIFEXITED(status) && lines.is_silent();
    end.how = ending(status, lines.is_silent());
  }
  end.errors = tail.text();
  if (take_mark(end.errors, kClosed)) {
    end.is_silent = false;
    end.how = "had its file descriptors closed";
  }
  close(pipe[0]);
  close(errors[0]);
  return end;
}

}  // namespace syscost::adapter
