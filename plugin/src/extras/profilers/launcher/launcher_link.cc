// SPDX-License-Identifier: MIT
#include "extras/profilers/launcher/launcher_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "extras/profilers/launcher/protocol.h"
#include "libc/clock_and_mutex.h"
#include "os/descriptors.h"
#include "os/detached_process.h"
#include "os/files.h"
#include "os/own_calls.h"

namespace syscost::profilers {
namespace {

using Clock = libc::SteadyClock;

/// The launcher ends tools that do not end by themselves; that takes it this long beyond its own limits.
constexpr std::chrono::seconds kLauncherPatience{10};

/// By which number /proc shows a process; it may be that of an outer PID namespace. "-1" if it does not show it.
std::string shown_number_of(int pidfd) {
  const std::string info = read_small_file("/proc/self/fdinfo/" + std::to_string(pidfd));
  constexpr std::string_view kLine = "\nPid:\t";
  const std::size_t line = info.find(kLine);
  if (line == std::string::npos) return "-1";
  const std::size_t begin = line + kLine.size();
  return info.substr(begin, info.find('\n', begin) - begin);
}

/// Opens a pidfd of the launcher; -1 if it is gone. Another process may have its number by now: that must be neither
/// waited for nor killed.
int open_launcher(pid_t launcher, const std::string& path) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, launcher, 0));
  if (pidfd < 0) return -1;
  struct stat expected {};
  struct stat found {};
  const std::string link = "/proc/" + shown_number_of(pidfd) + "/exe";
  if (stat(link.c_str(), &found) == 0 && stat(path.c_str(), &expected) == 0 && found.st_ino == expected.st_ino &&
      found.st_dev == expected.st_dev) {
    return pidfd;
  }
  close(pidfd);
  return -1;
}

Failure launcher_ended() {
  return {"the profile launcher ended by itself, so the output of the tool is lost",
          "run `dmesg` to see whether the kernel killed it; then try again"};
}

}  // namespace

LauncherLink::LauncherLink(std::string launcher_path, std::vector<std::string> environment, LauncherLimits limits)
    : launcher_path_(std::move(launcher_path)), environment_(std::move(environment)), limits_(limits) {}

LauncherLink::~LauncherLink() {
  if (launcher_ <= 0 || getpid() != owner_) return;
  close_descriptor(link_);
  end_launcher();
}

Result<void> LauncherLink::launch(const std::vector<Command>& commands) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_failure("open", "a socket to the profile launcher", errno);
  }
  std::vector<std::string> arguments{launcher_path_, std::to_string(limits_.start.count()),
                                     std::to_string(limits_.stop.count())};
  for (const Command& command : commands) {
    arguments.emplace_back(command.kind);
    arguments.push_back(std::to_string(command.arguments.size()));
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  }
  const int owner = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (owner < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return errno_failure("start", launcher_path_, error);
  }
  static_assert(kLinkDescriptor == kFirstPassedDescriptor && kOwnerDescriptor == kFirstPassedDescriptor + 1);
  const Result<DetachedProcess> launcher = start_detached({arguments, environment_, {ends[1], owner}, 0});
  close(owner);
  close(ends[1]);
  if (!launcher.ok()) {
    close(ends[0]);
    return launcher.failure();
  }
  launcher_ = launcher.value().process;
  session_ = launcher.value().session;
  owner_ = getpid();
  link_ = keep_descriptor(ends[0]);
  results_.assign(commands.size(), {});
  return {};
}

Result<bool> LauncherLink::start(const std::vector<Command>& commands) {
  SYSCOST_CHECK(launcher_ == 0);
  if (Result<void> launched = launch(commands); !launched.ok()) return launched.failure();
  Result<bool> ready = read_frames(kMostLimits * (limits_.start + limits_.stop) + kLauncherPatience);
  if (!ready.ok() || !ready.value()) {
    close_descriptor(link_);
    end_launcher();
  }
  return ready;
}

Result<void> LauncherLink::stop() {
  SYSCOST_CHECK(launcher_ > 0);
  if (!is_still_ours(link_)) {
    close_descriptor(link_);
    end_launcher();
    return Failure{"the test closed syscost's descriptor of the profile launcher, so the output of the tool is lost",
                   "let the test close only the descriptors that it opened"};
  }
  if (send(link_, &kStopByte, 1, MSG_NOSIGNAL) != 1) {
    close_descriptor(link_);
    end_launcher();
    return launcher_ended();
  }
  // Each command may use its whole time, and the filters start after the others.
  Result<bool> ready = read_frames(2 * kMostLimits * limits_.stop + kLauncherPatience);
  close_descriptor(link_);
  end_launcher();
  if (!ready.ok()) return ready.failure();
  return {};
}

Result<bool> LauncherLink::read_frames(std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  const Failure nonsense{"the profile launcher and libsyscost.so are of different versions",
                         "install both from the same build"};
  int error = 0;
  const auto read_all = [&](void* into, std::uint64_t size) {
    char* at = static_cast<char*>(into);
    while (size > 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) {
        error = ETIMEDOUT;
        return false;
      }
      pollfd one{link_, POLLIN, 0};
      if (poll(&one, 1, static_cast<int>(left)) <= 0) continue;
      const ssize_t got = recv(link_, at, size, MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) {
        error = got == 0 ? ECONNRESET : errno;
        return false;
      }
      at += got;
      size -= static_cast<std::uint64_t>(got);
    }
    return true;
  };
  const auto broken = [&] {
    if (error == ETIMEDOUT) {
      return Failure{"the profile launcher did not answer within " + std::to_string(limit.count() / 1000) + " s",
                     "use `ps -eo pid,stat,wchan,args` to see what it is waiting for; on a loaded machine try again"};
    }
    return launcher_ended();
  };
  while (true) {
    FrameHeader header{};
    if (!read_all(&header, sizeof header)) return broken();
    if (header.type == FrameType::kReady) return true;
    if (header.type == FrameType::kDone) return false;
    if (header.tool >= results_.size() || header.size > kMaxOutputBytes) return nonsense;
    CommandResult& result = results_[header.tool];
    ToolEnd end{};
    switch (header.type) {
      case FrameType::kTimedOut:
        result.has_timed_out = true;
        break;
      case FrameType::kOutput:
      case FrameType::kErrors: {
        std::string& text = header.type == FrameType::kOutput ? result.output : result.errors;
        text.resize(header.size);
        if (!read_all(text.data(), header.size)) return broken();
        break;
      }
      case FrameType::kEnded:
        if (header.size != sizeof end || !read_all(&end, sizeof end)) return broken();
        result.start_errno = end.start_errno;
        result.wait_status = end.wait_status;
        result.was_ready = end.was_ready != 0;
        result.ended_early = end.ended_early != 0;
        result.is_truncated = end.is_truncated != 0;
        break;
      default:
        return nonsense;
    }
  }
}

void LauncherLink::end_launcher() {
  // The launcher is our child only if this process adopts orphans (adopts_orphans()). Then no other process can get the
  // launcher's number, and a wait() of the test must not return it.
  const pid_t reaped = waitpid(launcher_, nullptr, WNOHANG | __WALL);
  const bool is_ours = reaped == 0;
  int pidfd = -1;
  if (is_ours) pidfd = static_cast<int>(syscall(SYS_pidfd_open, launcher_, 0));
  if (reaped < 0) pidfd = open_launcher(launcher_, launcher_path_);
  if (pidfd >= 0) {
    // It ends by itself when the link is closed. If another process has a copy of the link, it needs the signal.
    syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, nullptr, 0);
    const Clock::time_point deadline = Clock::now() + kLauncherPatience;
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd one{pidfd, POLLIN, 0};
      if (left <= 0 || poll(&one, 1, static_cast<int>(left)) > 0) break;
    }
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
    close(pidfd);
  }
  while (is_ours && waitpid(launcher_, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  end_own_session(session_);
  launcher_ = 0;
}

Result<CommandResult> run_whole(const std::string& launcher_path, const std::vector<std::string>& environment,
                                std::vector<std::string> arguments) {
  LauncherLink link(launcher_path, environment, {});
  Result<bool> ready = link.start({{kWholeKind, std::move(arguments)}});
  if (!ready.ok()) return ready.failure();
  if (ready.value()) {
    if (Result<void> stopped = link.stop(); !stopped.ok()) return stopped.failure();
  }
  return std::move(link.results().front());
}

}  // namespace syscost::profilers
