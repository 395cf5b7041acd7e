// SPDX-License-Identifier: MIT
#include "session/two_process/counting_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libc/clock_and_mutex.h"
#include "os/command_line.h"
#include "os/descriptors.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/signals.h"
#include "session/options/options.h"
#include "session/process/messages.h"
#include "session/session.h"
#include "syscost/adapter.h"

namespace syscost::session {
namespace {

void write_all(int fd, std::string_view text) {
  const SignalHold no_reader(SIGPIPE);
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

CountingProcess::CountingProcess() : is_counting_(read_variable()) {}

/// False if the variable is not there, or was set for another process.
bool CountingProcess::read_variable() {
  const char* value = variable(pipe_marks::kVariable);
  if (value == nullptr) return false;
  const std::string_view text = value;
  const char* const end = text.data() + text.size();
  int pid = 0;
  const auto [after_pid, pid_error] = std::from_chars(text.data(), end, pid);
  if (pid_error != std::errc() || after_pid == end || *after_pid != ':' || pid != getpid()) return false;
  const auto [after_pipe, pipe_error] = std::from_chars(after_pid + 1, end, pipe_);
  if (pipe_error != std::errc() || after_pipe == end || *after_pipe != ':') return false;
  struct stat status {};
  if (fstat(pipe_, &status) == 0) pipe_inode_ = status.st_ino;
  request_.assign(after_pipe + 1, end);
  return true;
}

/// The measured body may have closed the pipe, and its number may belong to another file by now.
void CountingProcess::send(std::string_view text) {
  struct stat status {};
  if (fstat(pipe_, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == pipe_inode_) {
    // Programs that this one executes need not see the pipe.
    fcntl(pipe_, F_SETFD, FD_CLOEXEC);
    write_all(pipe_, text);
    return;
  }
  if (!has_said_closed_.exchange(true)) write_all(STDERR_FILENO, pipe_marks::kClosed);
}

/// Lets the other process tell an end by exit() from one by _exit(), or by executing another program.
void CountingProcess::announce_leaving() {
  static const bool is_registered = [] {
    const auto leave = [] {
      CountingProcess& process = counting_process();
      if (process.is_counting()) process.send(std::string(pipe_marks::kLeaving) + '\n');
    };
    return std::atexit(leave) == 0 && std::at_quick_exit(leave) == 0;
  }();
  static_cast<void>(is_registered);
}

void CountingProcess::send_line(std::string_view line) {
  if (!is_counting()) return;
  announce_leaving();
  std::string text(line);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\t') c = ' ';
  }
  send(text + '\n');
}

void CountingProcess::end() {
  if (is_counting()) send(std::string(pipe_marks::kWhole) + '\n');
  _exit(0);
}

CountingProcess& counting_process() {
  static auto* const made = new CountingProcess;
  return *made;
}

namespace {

constexpr std::size_t kShownErrorBytes = 2000;
constexpr std::size_t kLongestRequest = 4000;

/// With two blanks before each line.
std::string indented(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    out.append("  ").append(text.substr(begin, end - begin));
  }
  return out;
}

/// `was killed by SIGSEGV`, `ended with exit code 3`.
std::string ending(int status, bool is_silent) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return "was killed by " + (name != nullptr ? "SIG" + std::string(name) : std::to_string(WTERMSIG(status)));
  }
  const std::string code = "ended with exit code " + std::to_string(WEXITSTATUS(status));
  return is_silent ? code + ", by _exit() or as another program that it executed," : code;
}

/// The last bytes that come through a pipe. A pipe and no file, not even one in memory: the program may run under a
/// limit on the size of files.
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

/// Cuts what comes through the pipe into lines.
class Lines {
 public:
  explicit Lines(const ChildRun::OnLine& on_line) : on_line_(on_line) {}

  /// Reads what is there; false at the end.
  bool read_from(int fd) {
    char bytes[65536];
    const ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    text_.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      const std::string_view line = std::string_view(text_).substr(0, end);
      if (line == pipe_marks::kWhole) {
        is_whole_ = true;
      } else if (line == pipe_marks::kLeaving) {
        is_leaving_ = true;
      } else {
        has_spoken_ = true;
        on_line_(line);
      }
    }
    return got > 0;
  }
  bool is_whole() const { return is_whole_; }
  /// It sent lines, but not the one that announces exit().
  bool is_silent() const { return has_spoken_ && !is_leaving_; }

 private:
  const ChildRun::OnLine& on_line_;
  std::string text_;
  bool is_whole_ = false;
  bool is_leaving_ = false;
  bool has_spoken_ = false;
};

/// Takes `mark` out of `text`; true if it was there.
bool take_mark(std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return false;
  text.erase(at, mark.size());
  return true;
}

/// True if `child` waits for a lock (flock, F_SETLKW) on a file that this process holds: main() takes one before its
/// benchmarks, and both processes run it. Each would wait for the other one for ever. proc(5) has the form of
/// /proc/locks: who waits has the number of the one that holds, and an arrow.
bool waits_for_our_lock(pid_t child) {
  const std::string locks = read_small_file("/proc/locks");
  const std::string us = std::to_string(getpid());
  const std::string its = std::to_string(child);
  std::string_view ours;  // the number of the last lock, if this process holds it
  std::string_view rest = locks;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto next_word = [&line] {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      const std::string_view word = line.substr(0, line.find(' '));
      line.remove_prefix(word.size());
      return word;
    };
    const std::string_view number = next_word();
    const bool waits = next_word() == "->";
    // The kind of lock (behind the arrow), whether it is advisory, and what for.
    for (int i = waits ? 0 : 1; i < 3; ++i) next_word();
    const std::string_view process = next_word();
    if (!waits) ours = process == us ? number : std::string_view();
    if (waits && process == its && number == ours) return true;
  }
  return false;
}

/// Reads until the process has ended, and returns its status. It does not wait for the end of the pipes: processes that
/// it left running may hold them open, and write without end.
int read_until_end(pid_t child, int pipe, int errors, Lines& lines, Tail& tail, const ChildRun::OnWait& on_wait,
                   bool& waited_for_us) {
  using Clock = libc::SteadyClock;
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
    if (waited > said_seconds && !waited_for_us && waits_for_our_lock(child)) {
      waited_for_us = true;
      kill(child, SIGKILL);
    }
    while (waited > said_seconds) on_wait(++said_seconds);
  }
  // Read the output between the last reading and its end.
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  for (int i = 0; i < kMostReadsAfterwards && (is_open || has_errors) && read_what_is_there(0); ++i) continue;
  return status;
}

}  // namespace

ChildRun::ChildRun(std::string_view request, std::vector<std::string> variables)
    : arguments_(process_arguments()), request_(request.substr(0, kLongestRequest)) {
  for (std::string& entry : environment_to_pass_on()) {
    if (!entry.starts_with(pipe_marks::kVariable)) variables_.push_back(std::move(entry));
  }
  for (std::string& variable : variables) variables_.push_back(std::move(variable));
  argv_ = null_ended(arguments_);
  envp_ = null_ended(variables_);
  envp_.insert(envp_.end() - 1, counting_variable_);
}

void ChildRun::become_counting_process(int pipe, int errors, pid_t parent) {
  // Without its parent no process would read its counts.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0) {
    _exit(127);
  }
  fcntl(pipe, F_SETFD, 0);
  std::snprintf(counting_variable_, sizeof counting_variable_, "%s=%d:%d:%s", pipe_marks::kVariable,
                static_cast<int>(getpid()), pipe, request_.c_str());
  execve("/proc/self/exe", argv_.data(), envp_.data());
  _exit(127);
}

adapter::CountingEnd ChildRun::run(const OnLine& on_line, const OnWait& on_wait) {
  adapter::CountingEnd end;
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
  if (child == 0) become_counting_process(move_fd_high(pipe[1]), errors[1], parent);
  close(pipe[1]);
  close(errors[1]);
  Lines lines(on_line);
  Tail tail;
  if (child < 0) {
    end.how = std::string("could not be started: ") + std::strerror(errno);
  } else {
    bool waited_for_us = false;
    const int status = read_until_end(child, pipe[0], errors[0], lines, tail, on_wait, waited_for_us);
    end.is_whole = lines.is_whole();
    end.is_silent = WIFEXITED(status) && lines.is_silent();
    end.how = waited_for_us ? "waited for a lock on a file that this process holds, and was ended"
                            : ending(status, lines.is_silent());
  }
  end.errors = tail.text();
  if (take_mark(end.errors, pipe_marks::kClosed)) {
    end.is_silent = false;
    end.how = "had its file descriptors closed";
  }
  end.errors = indented(end.errors);
  close(pipe[0]);
  close(errors[0]);
  return end;
}

void MainWatch::explain_at_exit(int status) const {
  if (state_.is_main_seen || fork_detector_.is_fork_child()) return;
  const std::vector<std::string> arguments = process_arguments();
  // Google Benchmark starts itself once to find out whether its addresses can stay in place.
  constexpr std::string_view kTrial = "--benchmark_aslr_test_child=";
  if (arguments.size() == 2 && arguments[1].starts_with(kTrial)) return;
  if (!adapter::requested() || counting_process().is_counting()) return;
  const Unavailable* (*const ask)() = state_.why_main_is_unseen;
  const Unavailable* const why = ask != nullptr ? ask() : nullptr;
  if (why == nullptr) {
    // A test program that is linked with Google Benchmark, too, has rows of its tests.
    if (status != 0 || process_session().is_started()) return;
    say("this program ran no benchmark: there is nothing to count, and no CSV is written");
    return;
  }
  // A program that fails names its own reason, except when it fails because of a flag of ours.
  const bool has_flag = std::any_of(arguments.begin(), arguments.end(),
                                    [](const std::string& argument) { return argument.starts_with("--syscost"); });
  if (status == 0 || has_flag) refuse(*why);
}

MainWatch& main_watch() {
  static auto* const made = [] {
    auto* watch = new MainWatch;
#ifdef __GLIBC__
    on_exit([](int status, void* that) { static_cast<const MainWatch*>(that)->explain_at_exit(status); }, watch);
#endif
    return watch;
  }();
  return *made;
}

}  // namespace syscost::session
