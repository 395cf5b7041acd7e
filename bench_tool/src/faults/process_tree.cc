// SPDX-License-Identifier: MIT
#include "faults/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "os/own_proc.h"

namespace syscost::bench::faults {
namespace {

struct ProcessState {
  pid_t parent = 0;
  bool has_ended = false;
};

/// Reads /proc/PID/stat: `12 (a name) S 1 ...`. The name may hold anything, so its last `)` counts.
bool read_state(const char* pid, ProcessState& state) {
  const int file = ::open((std::string("/proc/") + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 1024> buffer{};
  const ssize_t got = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  if (got <= 0) return false;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t end = text.rfind(") ");
  if (end == std::string_view::npos || end + 4 >= text.size()) return false;
  state.has_ended = text[end + 2] == 'Z' || text[end + 2] == 'X';
  const std::string_view rest = text.substr(end + 4);
  return std::from_chars(rest.data(), rest.data() + rest.size(), state.parent).ec == std::errc();
}

std::map<pid_t, ProcessState> all_processes() {
  std::map<pid_t, ProcessState> all;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return all;
  while (const dirent* const entry = ::readdir(folder)) {
    pid_t process = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, process).ptr != end) continue;
    ProcessState state;
    if (read_state(entry->d_name, state)) all[process] = state;
  }
  ::closedir(folder);
  return all;
}

/// Kills those of `chosen` that are still below this process. A process that ends gives its id to the next one, which
/// may be anyone's. So each is held by a descriptor first, and killed by it only if its id is still one below us after
/// that.
void kill_each(const std::set<pid_t>& chosen, const std::set<pid_t>& spared) {
  std::map<pid_t, int> held;
  for (const pid_t process : chosen) {
    const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (descriptor >= 0) held[process] = descriptor;
  }
  const std::set<pid_t> below = held.empty() ? std::set<pid_t>() : processes_below(spared);
  for (const auto& [process, descriptor] : held) {
    if (below.count(process) != 0) ::syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0);
    ::close(descriptor);
  }
}

}  // namespace

std::set<pid_t> processes_below(const std::set<pid_t>& spared) {
  const pid_t top = shown_number();
  const bool is_ours = top == ::getpid();
  const std::map<pid_t, ProcessState> all = all_processes();
  std::set<pid_t> below;
  for (const auto& [process, state] : all) {
    if (state.has_ended || top == 0) continue;
    // From the process up to this one, by the numbers of /proc. A chain of parents has no loop; the bound is for one
    // that changes while it is read.
    std::vector<pid_t> chain;
    pid_t ancestor = process;
    while (ancestor != top && ancestor > 1 && chain.size() <= all.size()) {
      chain.push_back(ancestor);
      const auto found = all.find(ancestor);
      ancestor = found == all.end() ? 0 : found->second.parent;
    }
    if (ancestor != top || chain.empty()) continue;
    if (!is_ours) std::transform(chain.begin(), chain.end(), chain.begin(), own_number_of);
    const bool is_spared = std::any_of(chain.begin(), chain.end(), [&](pid_t one) { return spared.count(one) != 0; });
    if (!is_spared && chain.front() != 0) below.insert(chain.front());
  }
  return below;
}

std::string not_killed(const KilledTree& killed) {
  if (killed.is_listed) return "a process of this run could not be killed";
  return "a process of this run may go on: /proc does not show the processes of this PID namespace (mount it: "
         "`unshare --mount-proc`)";
}

KilledTree kill_processes_below(const std::set<pid_t>& spared) {
  constexpr std::chrono::seconds kPatience{10};
  constexpr std::chrono::milliseconds kPause{2};
  const auto begin = std::chrono::steady_clock::now();
  KilledTree killed;
  if (shown_number() == 0) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    killed.is_listed = killed.is_gone = ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
    return killed;
  }
  for (bool is_first = true;; is_first = false) {
    // A process may make another one between the look and its end, so this looks until none is left.
    const std::set<pid_t> below = processes_below(spared);
    if (is_first) killed.processes = below.size();
    kill_each(below, spared);
    if (spared.empty()) {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return killed;
    } else {
      for (const pid_t process : below) ::waitpid(process, nullptr, WNOHANG);
      if (below.empty()) return killed;
    }
    if (std::chrono::steady_clock::now() - begin > kPatience) {
      killed.is_gone = false;
      return killed;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace syscost::bench::faults
