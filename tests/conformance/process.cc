// SPDX-License-Identifier: MIT
#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>

namespace conformance {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                         int out) {
  setpgid(0, 0);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  for (const std::string& entry : environment) {
    std::size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  _exit(127);
}

}  // namespace

Ended run_program(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                  int deadline_s) {
  using Clock = std::chrono::steady_clock;
  Ended ended;
  std::array<int, 2> out = {-1, -1};
  if (pipe2(out.data(), O_CLOEXEC) != 0) return ended;
  pid_t pid = fork();
  if (pid == 0) become(command, environment, out[1]);
  setpgid(pid, pid);
  close(out[1]);

  // The pipe closes when the last process of the group is gone.
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(deadline_s);
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd readable = {out[0], POLLIN, 0};
    int ready = left > 0 ? poll(&readable, 1, static_cast<int>(left)) : 0;
    if (ready == 0) {
      ended.timed_out = true;
      break;
    }
    std::array<char, 4096> buffer;
    ssize_t got = read(out[0], buffer.data(), buffer.size());
    if (got <= 0) break;
    ended.output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(out[0]);
  if (ended.timed_out) kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  ended.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ended;
}

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace conformance
