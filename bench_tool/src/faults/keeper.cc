// SPDX-License-Identifier: MIT
#include "faults/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <system_error>

#include "agent/common/variables.h"
#include "faults/contained.h"
#include "faults/run_folder.h"
#include "os/files.h"
#include "os/temporary_folder.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// In the folder of a run: agent::kChildEndsVariable.
constexpr const char* kChildEnds = "child-ends";
using ChildEnds = std::array<std::uint32_t, agent::kEndSignals>;

/// In the folder of a run, before a full stop and a process id.
constexpr std::string_view kSanitizerReport = "sanitizer";

constexpr int kEndedByTheUser[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// The beginning and the end of a text of any length.
class BoundedText {
 public:
  void add(std::string_view piece) {
    const std::size_t to_begin = std::min(piece.size(), kMostOutput / 2 - begin_.size());
    begin_ += piece.substr(0, to_begin);
    end_ += piece.substr(to_begin);
    constexpr std::size_t kMost = kMostOutput / 2;
    if (end_.size() <= 2 * kMost) return;
    left_out_ += end_.size() - kMost;
    end_.erase(0, end_.size() - kMost);
  }
  std::string text() const {
    constexpr std::size_t kMost = kMostOutput / 2;
    const std::size_t more = end_.size() > kMost ? end_.size() - kMost : 0;
    if (left_out_ + more == 0) return begin_ + end_;
    return begin_ + fmt::format("\n[{} bytes left out]\n", left_out_ + more) + end_.substr(more);
  }

 private:
  std::string begin_;
  std::string end_;
  std::size_t left_out_ = 0;
};

bool write_text(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return is_written;
}

/// Puts the run's temporary folder in the place of /tmp, for this process and those that it starts. The folder of all
/// runs stays at its path, also if that is in /tmp. Returns what went wrong, or "".
std::string cover_tmp(const KeeperTask& task) {
  const auto fault = [](const char* what) { return fmt::format("--private-tmp: {}: {}", what, std::strerror(errno)); };
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWNS) != 0) {
    // Without privileges a user namespace is needed, in which each id stays what it is.
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return fault("unshare");
    if (!write_text("/proc/self/uid_map", fmt::format("{0} {0} 1", user))) return fault("uid_map");
    if (!write_text("/proc/self/setgroups", "deny")) return fault("setgroups");
    if (!write_text("/proc/self/gid_map", fmt::format("{0} {0} 1", group))) return fault("gid_map");
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return fault("mount");
  const fs::path temporary = task.folder / "tmp";
  // As /tmp has it: anyone may write, and only owners remove.
  if (::chmod(temporary.c_str(), 01777) != 0) return fault("chmod");
  const fs::path root = task.folder.parent_path();
  const fs::path below = root.lexically_relative(real_tmp());
  if (!below.empty() && *below.begin() != "..") {
    std::error_code error;
    fs::create_directories(temporary / below, error);
    if (::mount(root.c_str(), (temporary / below).c_str(), nullptr, MS_BIND, nullptr) != 0) return fault("mount");
  }
  if (::mount(temporary.c_str(), "/tmp", nullptr, MS_BIND | MS_REC, nullptr) != 0) return fault("mount");
  return {};
}

/// The command's mounts are gone with the last of its processes, and no one else sees them. Where this process may not
/// make a namespace, it goes on without.
void take_mounts_of_its_own() {
  if (::unshare(CLONE_NEWNS) == 0) ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
}

/// A sanitizer's text in a file of its own is no text that a test printed. LSAN_OPTIONS also decides for
/// AddressSanitizer. A file that the user has named stays.
void name_report_file(const fs::path& folder) {
  for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const char* const options = ::getenv(name);
    if (options != nullptr && std::string_view(options).find("log_path") != std::string_view::npos) return;
  }
  const char* const lsan = ::getenv("LSAN_OPTIONS");
  const std::string before = lsan != nullptr && *lsan != '\0' ? std::string(lsan) + ':' : "";
  ::setenv("LSAN_OPTIONS", (before + "log_path=" + (folder / kSanitizerReport).string()).c_str(), 1);
}

/// `not_started` gets the fault if the program cannot be executed, and is closed when it is.
[[noreturn]] void become_command(const KeeperTask& task, const fs::path& working, int output, int end_report,
                                 int not_started, pid_t keeper) {
  // If the keeper is killed, its command goes with it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(1);
  ::setsid();
  for (const int signal : kEndedByTheUser) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  // A test that crashes is nothing new here: no core file, and no program that the kernel starts for one. The limit 1
  // means both (fs/coredump.c).
  const rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (null > STDERR_FILENO) ::close(null);
  const std::string temporary = task.folder / "tmp";
  for (const char* name : {"TMPDIR", "TEST_TMPDIR", "TMP", "TEMP"}) ::setenv(name, temporary.c_str(), 1);
  for (const std::string& variable : task.command->variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) ::unsetenv(variable.c_str());
    if (equals == std::string::npos) continue;
    ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  if (task.command->has_report_file) name_report_file(task.folder);
  std::vector<std::string> arguments = task.command->arguments;
  if (task.command->reports_end) {
    ::setenv(agent::kChildEndsVariable, (task.folder / kChildEnds).c_str(), 1);
    arguments.insert(arguments.begin() + 1, fmt::format("--report-end={}", end_report));
    ::fcntl(end_report, F_SETFD, 0);
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::string fault;
  if (task.command->has_own_tmp) {
    fault = cover_tmp(task);
  } else {
    take_mounts_of_its_own();
  }
  if (fault.empty() && ::chdir(working.c_str()) != 0) {
    fault = fmt::format("{} cannot be entered: {}", working.native(), std::strerror(errno));
  } else if (fault.empty()) {
    ::execv(pointers[0], pointers.data());
    fault = fmt::format("{} cannot be started: {}", pointers[0], std::strerror(errno));
  }
  [[maybe_unused]] const ssize_t written = ::write(not_started, fault.data(), fault.size());
  constexpr int kNotFound = 127;
  ::_exit(kNotFound);
}

bool is_alive(int lifeline) {
  pollfd one{lifeline, POLLIN, 0};
  return ::poll(&one, 1, 0) == 0;
}

/// Reads what is there. False at the end of the file.
bool take_output(int output, BoundedText& text) {
  std::array<char, 16384> buffer{};
  for (int pieces = 0; pieces < 64; ++pieces) {
    const ssize_t got = ::read(output, buffer.data(), buffer.size());
    if (got > 0) text.add({buffer.data(), static_cast<std::size_t>(got)});
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
  }
  return true;
}

void take_child_ends(const fs::path& folder, ContainedEnd& end) {
  // The command may have put something else there.
  ChildEnds ends{};
  std::string bytes;
  const Descriptor file = open_regular((folder / kChildEnds).c_str(), O_NOFOLLOW);
  if (!file.is_open() || !read_whole(file, sizeof ends, bytes) || bytes.size() != sizeof ends) return;
  std::memcpy(ends.data(), bytes.data(), sizeof ends);
  for (int signal = 1; signal < agent::kEndSignals; ++signal) {
    if (ends[static_cast<std::size_t>(signal)] > 0) end.child_signals[signal] = ends[static_cast<std::size_t>(signal)];
  }
}

/// Takes the reports of sanitizers into the output.
void take_sanitizer_reports(const fs::path& folder, ContainedEnd& end, BoundedText& text) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(std::string(kSanitizerReport) + '.')) continue;
    const Descriptor file = open_regular(entry->path().c_str(), O_NOFOLLOW);
    if (!file.is_open()) continue;
    BoundedText report;
    constexpr int kMostReads = 64;  // a file with holes may be larger than any report
    for (int i = 0; i < kMostReads && take_output(file.number(), report); ++i) {
    }
    const std::string whole = report.text();
    end.has_report = true;
    if (whole.find("LeakSanitizer: detected memory leaks") != std::string::npos) end.has_leak_report = true;
    text.add(whole);
  }
}

/// Waits until the command has ended, its time is over, or the lifeline has ended.
void wait_for_command(const KeeperTask& task, pid_t command, int process, int output, ContainedEnd& end,
                      BoundedText& text) {
  const Clock::time_point begin = Clock::now();
  std::array<pollfd, 3> files = {{{process, POLLIN, 0}, {output, POLLIN, 0}, {task.lifeline, POLLIN, 0}}};
  for (;;) {
    const auto left = task.command->limit - (Clock::now() - begin);
    if (left <= std::chrono::nanoseconds(0)) {
      end.is_timed_out = true;
      break;
    }
    // At least a millisecond: a time of less would be none.
    const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    ::poll(files.data(), files.size(), static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)));
    if (files[1].revents != 0 && !take_output(output, text)) files[1].fd = -1;
    if (files[0].revents != 0 || files[2].revents != 0) break;
  }
  siginfo_t info{};
  const bool has_ended =
      ::waitid(P_PID, static_cast<id_t>(command), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
  if (has_ended) end.is_timed_out = false;
  end.wall_ns = static_cast<std::uint64_t>((Clock::now() - begin).count());
  if (!has_ended) ::kill(command, SIGKILL);
  while (::waitpid(command, &end.status, 0) < 0 && errno == EINTR) {
  }
}

ContainedEnd run(const KeeperTask& task) {
  ContainedEnd end;
  fs::path working;
  end.fault = make_working_folder(task.command->folder, *task.plan, task.working, task.folder, working);
  if (!end.fault.empty()) return end;
  int output[2] = {-1, -1};
  int not_started[2] = {-1, -1};
  int end_report[2] = {-1, -1};
  if (::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(not_started, O_CLOEXEC) != 0 || ::pipe2(end_report, O_CLOEXEC) != 0) {
    return {.fault = fmt::format("pipe2: {}", std::strerror(errno))};
  }
  const ChildEnds none{};
  std::FILE* const ends = std::fopen((task.folder / kChildEnds).c_str(), "wxe");
  if (ends != nullptr) {
    std::fwrite(none.data(), sizeof none, 1, ends);
    std::fclose(ends);
  }
  const pid_t keeper = ::getpid();
  const pid_t command = ::fork();
  if (command < 0) return {.fault = fmt::format("fork: {}", std::strerror(errno))};
  if (command == 0) become_command(task, working, output[1], end_report[1], not_started[1], keeper);
  ::close(output[1]);
  ::close(not_started[1]);
  ::close(end_report[1]);
  ::fcntl(output[0], F_SETFL, O_NONBLOCK);
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, command, 0));
  BoundedText text;
  if (process < 0) {
    end.fault = fmt::format("pidfd_open: {} (it needs Linux 5.3)", std::strerror(errno));
  } else {
    wait_for_command(task, command, process, output[0], end, text);
  }
  std::array<char, 4096> why_not{};
  const ssize_t length = ::read(not_started[0], why_not.data(), why_not.size());
  if (length > 0) {
    end.has_started = false;
    end.fault.assign(why_not.data(), static_cast<std::size_t>(length));
  }
  const KilledTree killed = kill_processes_below();
  if (!end.is_timed_out) end.processes_left = killed.processes;
  if (!killed.is_gone) end.fault = not_killed(killed);
  take_output(output[0], text);
  take_sanitizer_reports(task.folder, end, text);
  take_child_ends(task.folder, end);
  end.output = text.text();
  ::fcntl(end_report[0], F_SETFL, O_NONBLOCK);
  BoundedText reported;
  take_output(end_report[0], reported);
  end.report = read_end_report(reported.text());
  return end;
}

}  // namespace

std::string report_text(const ContainedEnd& end) {
  std::string ends = std::to_string(end.child_signals.size());
  for (const auto& [signal, count] : end.child_signals) ends += fmt::format(" {} {}", signal, count);
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", ends, end.status, end.is_timed_out ? 1 : 0,
                     end.has_report ? 1 : 0, end.has_leak_report ? 1 : 0, end.wall_ns, end.processes_left,
                     end.has_started ? 1 : 0, end.report.status.has_value() ? 1 : 0, end.report.status.value_or(0),
                     end.fault.size(), end.report.refusal.size()) +
         end.fault + end.report.refusal + end.output + '\n';
}

std::optional<ContainedEnd> read_report(const std::string& text) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos || text.back() != '\n') return std::nullopt;
  std::istringstream in(text.substr(0, line));
  ContainedEnd end;
  bool has_status = false;
  int status = 0;
  std::size_t fault = 0;
  std::size_t refusal = 0;
  std::size_t signals = 0;
  if (!(in >> signals) || signals > agent::kEndSignals) return std::nullopt;
  for (int signal = 0; signals > 0 && in >> signal; --signals) in >> end.child_signals[signal];
  if (!(in >> end.status >> end.is_timed_out >> end.has_report >> end.has_leak_report >> end.wall_ns >>
        end.processes_left >> end.has_started >> has_status >> status >> fault >> refusal)) {
    return std::nullopt;
  }
  const std::size_t texts = line + 1;
  if (text.size() < texts + fault + refusal + 1) return std::nullopt;
  if (has_status) end.report.status = status;
  end.fault = text.substr(texts, fault);
  end.report.refusal = text.substr(texts + fault, refusal);
  end.output = text.substr(texts + fault + refusal, text.size() - texts - fault - refusal - 1);
  return end;
}

void keep(const KeeperTask& task) {
  // Not in the terminal's session: Ctrl-C ends bench, and the lifeline then ends this run.
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : kEndedByTheUser) ::signal(signal, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ContainedEnd end;
  if (is_alive(task.lifeline)) end = run(task);
  remove_tree(task.folder);  // what stays, bench names
  const std::string report = report_text(end);
  for (std::string_view left = report; !left.empty();) {
    const ssize_t written = ::write(task.report, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  ::_exit(0);
}

}  // namespace syscost::bench::faults
