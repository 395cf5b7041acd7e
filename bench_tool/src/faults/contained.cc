// SPDX-License-Identifier: MIT
#include "faults/contained.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "faults/keeper.h"
#include "faults/run_folder.h"
#include "os/proc.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

void close_if_open(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

constexpr const char* kOpenFiles = "/proc/self/fd";

std::error_code open_files(std::vector<int>& files) {
  std::error_code error;
  for (fs::directory_iterator entry(kOpenFiles, error), end; !error && entry != end; entry.increment(error)) {
    files.push_back(std::atoi(entry->path().filename().c_str()));
  }
  return error;
}

/// Closes what exec would close, without `kept`, for a child that lives on without exec. If it held the lock of bench's
/// state file, no sweep could go on with the file after bench has been killed. If it held the reading end of a report,
/// the keeper that writes the report would not see that bench has ended.
/// Where the files cannot be listed, the process ends: with a file too many, bench would wait for ever.
void close_as_exec_does(const std::set<int>& kept) {
  std::vector<int> files;
  if (open_files(files)) ::_exit(1);
  for (const int file : files) {
    const int flags = ::fcntl(file, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0 && kept.count(file) == 0) ::close(file);
  }
}

/// Waits until the other ends of the pipe are closed.
void wait_for_end(int pipe) {
  std::array<char, 64> buffer{};
  for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) got = ::read(pipe, buffer.data(), buffer.size());
}

}  // namespace

ContainedRuns::ContainedRuns() {
  std::error_code error;
  working_ = fs::current_path(error);
  if (error) {
    fault_ = fmt::format("no working directory: {}", error.message());
    return;
  }
  std::vector<int> files;
  if (error = open_files(files); error) {
    fault_ = fmt::format("{}: {}; mount /proc (mount -t proc proc /proc)", kOpenFiles, error.message());
    return;
  }
  const fs::path temporary = fs::temp_directory_path(error);
  std::string name = (temporary / "syscost-faults.XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    fault_ = fmt::format("no temporary folder can be made in {}: {}; set TMPDIR", temporary.string(),
                         error ? error.message() : std::strerror(errno));
    return;
  }
  // The name without links: a run may have another /tmp, and the kernel names open files by it.
  root_ = fs::canonical(name, error);
  if (error) root_ = name;
  if (::pipe2(lifeline_, O_CLOEXEC) != 0 || ::pipe2(keepers_alive_, O_CLOEXEC) != 0) {
    fault_ = fmt::format("pipe2: {}", std::strerror(errno));
    return;
  }
  int before = 0;
  ::prctl(PR_GET_CHILD_SUBREAPER, &before);
  was_subreaper_ = before != 0;
  // If a keeper is killed, what it kept comes here.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  begin_janitor();
}

void ContainedRuns::begin_janitor() {
  janitor_ = ::fork();
  if (janitor_ != 0) return;
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  // Who reads bench's output through a pipe waits until all its writers have ended.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
  close_as_exec_does({lifeline_[0], keepers_alive_[0]});
  wait_for_end(lifeline_[0]);
  wait_for_end(keepers_alive_[0]);
  remove_tree(root_);
  ::_exit(0);
}

std::vector<LeftBehind> ContainedRuns::end() {
  if (has_ended_) return {};
  has_ended_ = true;
  end_all();
  close_if_open(keepers_alive_[1]);
  if (janitor_ > 0) {
    while (::waitpid(janitor_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close_if_open(lifeline_[0]);
  close_if_open(keepers_alive_[0]);
  if (fault_.empty()) ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_ ? 1 : 0);
  // The rest, which the janitor could not remove, or did not because it was killed.
  return root_.empty() ? std::vector<LeftBehind>() : remove_tree(root_);
}

int ContainedRuns::start(const ContainedCommand& command) {
  const int number = next_++;
  std::shared_ptr<const WorkingPlan>& plan = plans_[command.folder];
  if (!plan) plan = std::make_shared<const WorkingPlan>(plan_working_folder(command.folder, working_, root_));
  Keeper keeper;
  int report[2] = {-1, -1};
  if (::pipe2(report, O_CLOEXEC) == 0) keeper.process = ::fork();
  if (keeper.process == 0) {
    close_as_exec_does({lifeline_[0], keepers_alive_[1], report[1]});
    // The output of bench ends with bench.
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
    keep({&command, plan.get(), root_ / fmt::format("{}", number), working_, lifeline_[0], report[1]});
  }
  if (keeper.process < 0) {
    ContainedEnd end;
    end.fault = fmt::format("no process can be made: {}", std::strerror(errno));
    keeper.written = report_text(end);
    close_if_open(report[0]);
  }
  if (report[1] >= 0) ::close(report[1]);
  keeper.report = report[0];
  keepers_.emplace(number, std::move(keeper));
  return number;
}

ContainedEnd ContainedRuns::finish(Keeper& keeper) {
  close_if_open(keeper.report);
  if (keeper.process > 0) {
    while (::waitpid(keeper.process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::optional<ContainedEnd> end = read_report(keeper.written);
  if (end) return std::move(*end);
  // Someone killed the keeper. Its processes are ours now.
  std::set<pid_t> spared = {janitor_};
  for (const auto& [number, other] : keepers_) {
    if (other.process > 0 && other.process != keeper.process) spared.insert(other.process);
  }
  const KilledTree killed = kill_processes_below(spared);
  std::string fault = "the process that watched over this run was killed";
  if (!killed.is_gone) fault += "; " + not_killed(killed);
  return {.fault = std::move(fault)};
}

std::optional<std::pair<int, ContainedEnd>> ContainedRuns::wait(std::chrono::milliseconds at_most) {
  std::vector<pollfd> files;
  std::vector<int> numbers;
  for (auto& [number, keeper] : keepers_) {
    if (keeper.report < 0) {
      const int ended = number;
      ContainedEnd end = finish(keeper);
      keepers_.erase(ended);
      return std::pair(ended, std::move(end));
    }
    files.push_back({keeper.report, POLLIN, 0});
    numbers.push_back(number);
  }
  if (files.empty() || ::poll(files.data(), files.size(), static_cast<int>(at_most.count())) <= 0) return std::nullopt;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].revents == 0) continue;
    Keeper& keeper = keepers_.at(numbers[i]);
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(keeper.report, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      keeper.written.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    ContainedEnd end = finish(keeper);
    keepers_.erase(numbers[i]);
    // The rest, which the keeper could not remove, or did not because it was killed.
    end.left = text_of(remove_tree(root_ / fmt::format("{}", numbers[i])));
    return std::pair(numbers[i], std::move(end));
  }
  return std::nullopt;
}

void ContainedRuns::end_all() {
  close_if_open(lifeline_[1]);
  for (auto& [number, keeper] : keepers_) {
    if (keeper.report < 0) continue;
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = ::read(keeper.report, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR)) {
      if (got > 0) keeper.written.append(buffer.data(), static_cast<std::size_t>(got));
    }
    finish(keeper);
  }
  keepers_.clear();
}

EndReport read_end_report(std::string_view text) {
  constexpr std::string_view kRefused = "refused ";
  constexpr std::string_view kCommand = "command ";
  EndReport report;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // its writer was killed
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.starts_with(kRefused)) {
      report.refusal = line.substr(kRefused.size());
    } else if (line.starts_with(kCommand)) {
      line.remove_prefix(kCommand.size());
      int status = 0;
      const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), status);
      if (error == std::errc() && rest == line.data() + line.size()) report.status = status;
    }
  }
  return report;
}

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
