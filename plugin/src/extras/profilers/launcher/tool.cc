// SPDX-License-Identifier: MIT
#include "extras/profilers/launcher/tool.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>
#include <utility>

#include "os/command_line.h"

namespace syscost::profilers {
namespace {

/// Both ends of a pipe; -1 if there is none.
struct Pipe {
  int read = -1;
  int write = -1;
};

// Only our ends are made non-blocking: a tool may treat EAGAIN as a failure.
void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {ends[0], ends[1]};
}

// Above the numbers that execute() fills, so that no dup2 there covers another.
int move_up(int fd) {
  if (fd < 0) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (moved >= 0) close(fd);
  return moved >= 0 ? moved : fd;
}

}  // namespace

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

std::string gate_command() {
  // bpftrace 0.17 cuts its -c at every space, without quotes or escapes, and wants an ELF file.
  std::array<char, 4096> path{};
  const ssize_t path_length = readlink("/proc/self/exe", path.data(), path.size());
  if (path_length > 0 && path_length < static_cast<ssize_t>(path.size())) {
    const std::string_view whole(path.data(), static_cast<std::size_t>(path_length));
    if (whole.find_first_of(" \t\n") == std::string_view::npos)
      return std::string(whole) + " " + std::string(kGateArgument);
  }
  // The link in /proc has no space, whatever the name of the prefix. But sudo starts bpftrace as a container's root,
  // and that may not follow another user's link (CAP_SYS_PTRACE). The number is the one in /proc: in a PID namespace
  // that shares /proc with its parent it is not getpid().
  std::array<char, 32> self{};
  const ssize_t length = readlink("/proc/self", self.data(), self.size() - 1);
  const std::string number = length > 0 ? std::string(self.data(), static_cast<std::size_t>(length)) : "self";
  return "/proc/" + number + "/exe " + std::string(kGateArgument);
}

Tool::~Tool() {
  for (int* fd : {&pidfd_, &gate_, &order_, &ack_, &input_, &output_fd_, &errors_fd_}) close_fd(*fd);
}

Tool::Tool(Tool&& other) noexcept
    : kind_(other.kind_),
      arguments_(std::move(other.arguments_)),
      pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      gate_(std::exchange(other.gate_, -1)),
      order_(std::exchange(other.order_, -1)),
      ack_(std::exchange(other.ack_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_fd_(std::exchange(other.output_fd_, -1)),
      errors_fd_(std::exchange(other.errors_fd_, -1)) {}

void Tool::execute(int input, int output, int errors, int order, int ack, int report) const {
  // A launcher that is killed takes its tools along. sudo clears this; its bpftrace ends by the gate.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (order >= 0) dup2(order, kControlReadDescriptor);
  if (ack >= 0) dup2(ack, kControlAckDescriptor);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const std::vector<char*> argv = null_ended(arguments_);
  execv(argv[0], argv.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t told = write(report, &error, sizeof error);
  _exit(127);
}

void Tool::start(std::string input) {
  const std::string gate = gate_command();
  for (std::string& argument : arguments_) {
    if (argument == kGatePlaceholder) argument = gate;
  }
  Pipe in;
  if (kind_ == Kind::gate) {
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0) in = {ends[0], ends[1]};
  } else {
    in = make_pipe();
  }
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe report = make_pipe();
  Pipe order = kind_ == Kind::control ? make_pipe() : Pipe{};
  Pipe ack = kind_ == Kind::control ? make_pipe() : Pipe{};
  for (int* fd : {&in.read, &out.write, &err.write, &report.write, &order.read, &ack.write}) *fd = move_up(*fd);

  if (in.read < 0 || out.read < 0 || err.read < 0 || report.read < 0) {
    end_.start_errno = errno;
    has_ended_ = true;
  } else {
    pid_ = fork();
    if (pid_ == 0) execute(in.read, out.write, err.write, order.read, ack.write, report.write);
    if (pid_ < 0) {
      end_.start_errno = errno;
      has_ended_ = true;
      pid_ = 0;
    }
  }
  for (int* fd : {&in.read, &out.write, &err.write, &report.write, &order.read, &ack.write}) close_fd(*fd);

  if (pid_ > 0) {
    // Closed by a successful execv, after which nothing is read.
    int error = 0;
    if (read(report.read, &error, sizeof error) == sizeof error) end_.start_errno = error;
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  }
  close_fd(report.read);
  (kind_ == Kind::gate ? gate_ : input_) = in.write;
  output_fd_ = out.read;
  errors_fd_ = err.read;
  order_ = order.write;
  ack_ = ack.read;
  for (const int fd : {gate_, input_, output_fd_, errors_fd_, ack_}) {
    if (fd >= 0) set_nonblocking(fd);
  }
  to_feed_ = std::move(input);
  // perf reads its orders as soon as it has opened its events.
  if (order_ >= 0) [[maybe_unused]]
    const ssize_t told = write(order_, "enable\n", 7);
  feed();
}

void Tool::stop() {
  is_stopping_ = true;
  close_fd(gate_);
  // SIGINT follows when perf has acknowledged.
  if (order_ >= 0 && write(order_, "disable\n", 8) != 8) kill(SIGINT);
}

void Tool::kill(int signal) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  if (signal == SIGKILL) end_.was_killed = 1;
}

std::chrono::nanoseconds Tool::cpu_time() const {
  clockid_t clock{};
  timespec used{};
  if (pid_ <= 0 || clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void Tool::add_to(std::vector<pollfd>& polled) const {
  for (const int fd : {pidfd_, gate_, ack_, output_fd_, errors_fd_}) {
    if (fd >= 0) polled.push_back({fd, POLLIN, 0});
  }
  if (input_ >= 0) polled.push_back({input_, POLLOUT, 0});
}

void Tool::pump() {
  if (has_ended_) return;
  feed();
  read_handshake();
  read_into(output_fd_, output_);
  read_into(errors_fd_, errors_);
  if (pid_ > 0) reap();
}

void Tool::read_into(int& fd, std::string& text) {
  std::array<char, 65536> part{};
  while (fd >= 0) {
    const ssize_t got = read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;  // EAGAIN
    if (got == 0) {
      close_fd(fd);
    } else if (text.size() + static_cast<std::size_t>(got) > kMaxOutputBytes) {
      end_.is_truncated = 1;
    } else {
      text.append(part.data(), static_cast<std::size_t>(got));
    }
  }
}

void Tool::read_handshake() {
  std::array<char, 64> said{};
  if (gate_ >= 0) {
    const ssize_t got = read(gate_, said.data(), said.size());
    if (got > 0) is_ready_ = true;
    if (got == 0) close_fd(gate_);
  }
  if (ack_ >= 0) {
    const ssize_t got = read(ack_, said.data(), said.size());
    if (got == 0) close_fd(ack_);
    // "ack\n", and a NUL with it: counted by its line end.
    for (ssize_t i = 0; i < got; ++i) {
      if (said[static_cast<std::size_t>(i)] != '\n') continue;
      if (++acks_ == 1) is_ready_ = true;
      if (acks_ == 2) kill(SIGINT);
    }
  }
}

void Tool::feed() {
  while (input_ >= 0) {
    if (fed_ == to_feed_.size()) {
      close_fd(input_);
      return;
    }
    const ssize_t put = write(input_, to_feed_.data() + fed_, to_feed_.size() - fed_);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return;
    if (put < 0) {
      close_fd(input_);  // it reads no more
      return;
    }
    fed_ += static_cast<std::size_t>(put);
  }
}

void Tool::reap() {
  int status = 0;
  const pid_t done = waitpid(pid_, &status, WNOHANG);
  if (done != pid_) return;
  // Its last output is in the pipes. We do not wait for a grandchild that keeps them open.
  read_into(output_fd_, output_);
  read_into(errors_fd_, errors_);
  for (int* fd : {&pidfd_, &gate_, &order_, &ack_, &input_, &output_fd_, &errors_fd_}) close_fd(*fd);
  end_.wait_status = status;
  end_.was_ready = is_ready_ ? 1 : 0;
  end_.ended_early = (kind_ == Kind::gate || kind_ == Kind::control) && !is_stopping_ ? 1 : 0;
  if (kind_ == Kind::whole) is_ready_ = true;
  pid_ = 0;
  has_ended_ = true;
}

}  // namespace syscost::profilers
