// SPDX-License-Identifier: MIT
#include "copy.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <system_error>

#include "assistant.h"
#include "case.h"
#include "counts.h"
#include "raw.h"
#include "syscost/syscost.h"
#include "worker.h"

namespace conformance {
namespace {

constexpr int kCopyCalls = 5000;
int g_never_written[2] = {-1, -1};
bool g_open_scopes = true;

std::unique_ptr<syscost::Scope> open_scope() {
  return g_open_scopes ? std::make_unique<syscost::Scope>(syscost::Reach::process) : nullptr;
}

void say_ready_and_wait_for_cue() {
  char byte = 'r';
  if (raw(SYS_write, STDOUT_FILENO, &byte, 1) != 1) _exit(3);
  if (raw(SYS_read, STDIN_FILENO, &byte, 1) != 1) _exit(3);  // the other side is gone
}

void die_with_a_blocked_reader() {
  if (pipe(g_never_written) != 0) _exit(3);
  Assistant assistant;
  Worker reader([] {
    char byte = 0;
    raw(SYS_read, g_never_written[0], &byte, 1);
  });
  auto scope = open_scope();
  reader.go();
  assistant.when_blocked(reader.tid(), SYS_read);
  assistant.wait();
  say_ready_and_wait_for_cue();
  raw(SYS_exit_group, 37);
}

/// True when `cost`, of kCopyCalls calls, says just that.
bool is_exact(const syscost::Cost& cost) {
  const syscost::Count counted = entries_or_calls(cost, "getppid");
  if (counted == kCopyCalls) return true;
  std::fprintf(stderr, "the second measuring process made %d calls and counted %llu\n", kCopyCalls,
               static_cast<unsigned long long>(counted.value_or(0)));
  return false;
}

int count_own_calls() {
  auto scope = open_scope();
  say_ready_and_wait_for_cue();
  repeat_raw(kCopyCalls, 0, SYS_getppid);
  return scope == nullptr || is_exact(scope->stop()) ? 0 : 1;
}

/// Its window is to have no numbers, and the next one all.
int count_again() {
  auto scope = open_scope();
  say_ready_and_wait_for_cue();
  repeat_raw(kCopyCalls, 0, SYS_getppid);
  const syscost::Cost cost = scope->stop();
  if (cost.available()) {
    std::fprintf(stderr, "a window has numbers although its instrument was taken away\n");
    return 1;
  }
  scope = open_scope();
  repeat_raw(kCopyCalls, 0, SYS_getppid);
  if (!is_exact(scope->stop())) return 1;
  std::fprintf(stderr, "the window after it is exact\n");
  return 0;
}

/// False is right: a helper counts for a measuring process, which holds neither programs nor attachments.
bool holds_bpf_descriptor(pid_t pid) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
    if (std::filesystem::read_symlink(entry.path(), error).string().rfind("anon_inode:bpf", 0) == 0) return true;
  }
  return false;
}

/// The processes of seccomp's supervisor below process `pid`. (A helper of ebpf serves others, too.)
std::set<pid_t> helpers_below(pid_t pid) {
  std::set<pid_t> helpers;
  const std::string own = "/proc/" + std::to_string(pid);
  std::ifstream children(own + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(child) + "/comm"), name);
    if (name != "syscost-guard" && name != "syscost-count") continue;
    helpers.insert(child);
    helpers.merge(helpers_below(child));
  }
  return helpers;
}

/// Starts a process that stays, and holds our standard output. It closed nothing of ours, because no handler of fork()
/// ran in it.
int leave_daemon() {
  const int result = count_own_calls();
  if (raw(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr) == 0) {
    for (;;) raw(SYS_pause);
  }
  return result;
}

}  // namespace

Copy::Copy(const std::string& role) {
  int cue[2] = {-1, -1};
  int ready[2] = {-1, -1};
  if (pipe(cue) != 0 || pipe(ready) != 0) std::abort();
  // The supervisor that the second process starts is no child of it: meanwhile this process adopts orphans.
  const std::set<pid_t> before = helpers_below(getpid());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(cue[0], STDIN_FILENO);
    dup2(ready[1], STDOUT_FILENO);
    for (int fd : {cue[0], cue[1], ready[0], ready[1]}) close(fd);
    execl("/proc/self/exe", "conformance_case", "--copy", role.c_str(), g_open_scopes ? nullptr : "--bare", nullptr);
    _exit(127);
  }
  close(cue[0]);
  close(ready[1]);
  cue_fd_ = cue[1];
  char byte = 0;
  require(read(ready[0], &byte, 1) == 1, "the second process did not start");
  close(ready[0]);
  std::set<pid_t> started = helpers_below(getpid());
  started.merge(helpers_below(pid_));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  // A process that it adopted tells of its end. strace would see such a signal interrupt the case's own wait.
  sigset_t of_children;
  sigemptyset(&of_children);
  sigaddset(&of_children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &of_children, nullptr);
  for (const pid_t helper : started) {
    if (before.count(helper) == 0) helpers_.push_back(static_cast<int>(syscall(SYS_pidfd_open, helper, 0)));
  }
  const char* backend = std::getenv("SYSCOST_BACKEND");
  const std::string name = g_open_scopes && backend != nullptr ? backend : "";
  require(!holds_bpf_descriptor(pid_), "the second process holds a BPF program or an attachment");
  require(name != "seccomp" || !helpers_.empty(), "the second process measures, but has no supervisor");
}

void Copy::require_nothing_left() const {
  for (const int helper : helpers_) {
    pollfd ended{helper, POLLIN, 0};
    require(poll(&ended, 1, 20'000) == 1, "a supervisor outlives the process that measured with it");
    close(helper);
  }
}

bool Copy::cue() const {
  return raw(SYS_write, cue_fd_, "g", 1) == 1;
}

int Copy::wait() const {
  int status = 0;
  return raw(SYS_wait4, pid_, &status, 0, nullptr) == pid_ ? status : -1;
}

void copies_open_scopes(bool open) {
  g_open_scopes = open;
}

int play_role(const std::string& role) {
  if (role == "spin") {
    auto scope = open_scope();  // counts until the process is killed
    say_ready_and_wait_for_cue();
    for (;;) raw(SYS_getppid);
  }
  if (role == "die") {
    die_with_a_blocked_reader();
    return 3;
  }
  if (role == "count") return count_own_calls();
  if (role == "again") return count_again();
  if (role == "daemon") return leave_daemon();
  std::fprintf(stderr, "conformance_case: no role '%s'; roles: spin, die, count, again, daemon\n", role.c_str());
  return 2;
}

}  // namespace conformance
