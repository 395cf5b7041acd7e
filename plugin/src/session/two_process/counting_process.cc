// SPDX-License-Identifier: MIT
#include "session/two_process/counting_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>

#include "os/environment.h"
#include "os/signal_hold.h"
#include "session/two_process/pipe_marks.h"

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

}  // namespace syscost::session
