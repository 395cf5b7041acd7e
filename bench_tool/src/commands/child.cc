// SPDX-License-Identifier: MIT
#include "commands/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

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

}  // namespace syscost::bench::commands
