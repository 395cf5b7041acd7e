// SPDX-License-Identifier: MIT
#include "extras/profilers/launcher/launcher.h"

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace syscost::profilers {
namespace {

/// The wait for a tool that does not end when it is stopped: first SIGTERM, then SIGKILL, each after this time.
constexpr std::chrono::seconds kPatience{2};

}  // namespace

void Launcher::run() {
  if (start_all()) {
    send(FrameType::kReady, 0, nullptr, 0);
    const auto told = [this] { return was_told_to_stop_; };
    static_cast<void>(wait_until(told, std::nullopt));
  }
  end_all();
  if (!is_abandoned_) send_results();
}

bool Launcher::start_all() {
  for (Tool& tool : tools_) {
    if (tool.kind() != Tool::Kind::filter) tool.start({});
  }
  const auto is_decided = [this] {
    const bool has_failed = std::any_of(tools_.begin(), tools_.end(),
                                        [](const Tool& tool) { return tool.has_ended() && !tool.is_ready(); });
    return has_failed || every(&Tool::is_ready);
  };
  switch (wait_until(is_decided, patient(limits_.start))) {
    case Answer::yes:
      return every(&Tool::is_ready);
    case Answer::late:
      for (std::size_t i = 0; i < tools_.size(); ++i) {
        if (tools_[i].is_running() && !tools_[i].is_ready()) send(FrameType::kTimedOut, i, nullptr, 0);
      }
      has_given_up_ = true;
      return false;
    case Answer::abandoned:
      return false;
  }
  return false;
}

void Launcher::end_all() {
  // If the owner is gone, no process reads the tools' output: no need to let them finish.
  for (Tool& tool : tools_) {
    tool.stop();
    if (is_abandoned_) tool.kill(SIGKILL);
  }
  const auto have_ended = [this] {
    return std::none_of(tools_.begin(), tools_.end(), [](const Tool& tool) { return tool.is_running(); });
  };
  // A tool that did not get ready would not end either, and has had its time.
  if (!is_abandoned_ && !has_given_up_ && wait_until(have_ended, patient(limits_.stop)) == Answer::late) {
    for (std::size_t i = 0; i < tools_.size(); ++i) {
      if (tools_[i].is_running()) send(FrameType::kTimedOut, i, nullptr, 0);
    }
  }
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (have_ended()) break;
    for (Tool& tool : tools_) tool.kill(is_abandoned_ ? SIGKILL : signal);
    static_cast<void>(wait_until(have_ended, strict(kPatience), false));
  }

  for (std::size_t i = 0; i < tools_.size() && !is_abandoned_; ++i) {
    if (tools_[i].kind() != Tool::Kind::filter) continue;
    // From here on only the filter needs the recording.
    tools_[i].start(i == 0 ? std::string() : std::move(tools_[i - 1].output()));
    const auto has_ended = [this, i] { return tools_[i].has_ended(); };
    if (wait_until(has_ended, patient(limits_.stop)) == Answer::late) {
      send(FrameType::kTimedOut, i, nullptr, 0);
    }
    if (tools_[i].is_running()) {
      tools_[i].kill(SIGKILL);
      static_cast<void>(wait_until(has_ended, strict(kPatience), false));
    }
  }
  // If bpftrace was killed, its gate is our child now; it has ended, or ends because the gate is closed.
  const Patience left = strict(kPatience);
  while (waitpid(-1, nullptr, WNOHANG) >= 0 && Patience::Clock::now() < left.until()) poll(nullptr, 0, 1);
}

template <class Condition>
Launcher::Answer Launcher::wait_until(Condition is_done, std::optional<Patience> patience, bool heeds_owner) {
  std::vector<pollfd> polled;
  while (true) {
    for (Tool& tool : tools_) tool.pump();
    if (heeds_owner && is_abandoned_) return Answer::abandoned;
    if (is_done()) return Answer::yes;
    polled.clear();
    if (heeds_owner) {
      polled.push_back({link_, POLLIN, 0});
      if (owner_ >= 0) polled.push_back({owner_, POLLIN, 0});
      polled.push_back({signals_, POLLIN, 0});
    }
    const std::size_t of_ours = polled.size();
    for (const Tool& tool : tools_) tool.add_to(polled);
    int timeout_ms = -1;
    if (patience) {
      const auto now = Patience::Clock::now();
      if (now >= patience->until() && !patience->is_renewed(now, cpu_time())) return Answer::late;
      timeout_ms = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(patience->until() - now).count());
    }
    if (poll(polled.data(), polled.size(), timeout_ms) <= 0) continue;
    for (std::size_t i = 0; i < of_ours; ++i) {
      if (polled[i].revents == 0) continue;
      if (polled[i].fd == link_) read_link();
      if (polled[i].fd == owner_ || (polled[i].fd == signals_ && read_signals())) is_abandoned_ = true;
    }
  }
}

std::chrono::nanoseconds Launcher::cpu_time() const {
  std::chrono::nanoseconds sum{};
  for (const Tool& tool : tools_) sum += tool.cpu_time();
  return sum;
}

void Launcher::read_link() {
  std::array<char, 16> said{};
  const ssize_t got = recv(link_, said.data(), said.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    is_abandoned_ = true;
    return;
  }
  was_told_to_stop_ = true;
}

bool Launcher::read_signals() const {
  signalfd_siginfo info{};
  return read(signals_, &info, sizeof info) == sizeof info;
}

void Launcher::send_results() {
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    Tool& tool = tools_[i];
    send(FrameType::kOutput, i, tool.output().data(), tool.output().size());
    send(FrameType::kErrors, i, tool.errors().data(), tool.errors().size());
    const ToolEnd end = tool.end();
    send(FrameType::kEnded, i, &end, sizeof end);
  }
  send(FrameType::kDone, 0, nullptr, 0);
}

void Launcher::send(FrameType type, std::size_t tool, const void* bytes, std::size_t size) {
  const FrameHeader header{type, static_cast<std::uint32_t>(tool), size};
  const auto put_all = [this](const void* from, std::size_t count) {
    const char* at = static_cast<const char*>(from);
    while (count > 0 && !is_abandoned_) {
      const ssize_t put = ::send(link_, at, count, MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) {
        is_abandoned_ = true;
        return;
      }
      at += put;
      count -= static_cast<std::size_t>(put);
    }
  };
  put_all(&header, sizeof header);
  put_all(bytes, size);
}

bool Launcher::every(bool (Tool::*question)() const) const {
  return std::all_of(tools_.begin(), tools_.end(),
                     [question](const Tool& tool) { return tool.kind() == Tool::Kind::filter || (tool.*question)(); });
}

}  // namespace syscost::profilers
