// SPDX-License-Identifier: MIT
#include "backends/seccomp/installation.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/seccomp/filters.h"
#include "backends/seccomp/listener.h"
#include "backends/seccomp/shared.h"
#include "backends/seccomp/supervisor.h"
#include "os/detached_process.h"
#include "os/message_output.h"
#include "os/own_calls.h"

namespace syscost::seccomp {
namespace {

/// The filter of this process. It stays for the life of the process.
struct Installed {
  Shared* shared = nullptr;
  pid_t process = 0;
  std::string filter;  // as given; empty = everything
};
Installed g_installed;

std::string text_of(const Filter* filter) {
  return filter != nullptr ? filter->text() : std::string();
}

Result<Shared*> make_shared_memory(const Filter* filter, bool children, bool unselected) {
  Shared* shared = map_shared();
  // From the start, because another thread may fork at any time.
  if (shared == nullptr || !let_children_inherit(*shared, false)) {
    return errno_failure("map", "memory to share with the supervisor", errno);
  }
  while (shared->cookie == 0) {
    if (getrandom(&shared->cookie, sizeof shared->cookie, 0) < 0) shared->cookie = 0x5359'5343'4f53'5421;
  }
  shared->counts_children = children;
  shared->notifies_everything = filter == nullptr || unselected;
  for (std::size_t index = 0; filter != nullptr && index < kIndexes; ++index) {
    const SyscallId id{static_cast<Abi>(index / Filter::kNumbers),
                       static_cast<std::uint32_t>(index % Filter::kNumbers)};
    if (!filter->selects(id)) shared->is_left_out[index / 64] |= std::uint64_t{1} << index % 64;
  }
  for (std::size_t lane = 1; lane < kLanes; ++lane) shared->lanes[lane].control = kFollowProcess;
  return shared;
}

/// The id of our child: the guard, or the process that starts it and ends when it has the listener. Only the guard has
/// the ledger then.
Result<pid_t> start_guard(Shared& shared, bool stays_ours) {
  Ledger* const ledger = map_ledger();
  if (ledger == nullptr) return errno_failure("map", "memory of the supervisor", errno);
  const pid_t self = getpid();
  ledger->measured = self;
  ledger->notifies_everything = shared.notifies_everything;
  let_children_inherit(shared, true);
  const pid_t child = clone_quietly();
  if (child == 0) run_supervisor(shared, *ledger, stays_ours ? self : start_below(shared, self));
  const int error = errno;
  unmap_ledger(ledger);
  if (child < 0) return errno_failure("start", "the supervisor", error);
  return child;
}

/// The cookie lets this call and the next pass the filter while no process answers.
bool has_ended(const Shared& shared, pid_t guard, int options = WNOHANG) {
  int status = 0;
  return marked_call(shared.cookie, SYS_wait4, guard, &status, options | __WALL, 0) == guard;
}
void close_listener(const Shared& shared, int listener) {
  marked_call(shared.cookie, SYS_close, listener);
}

constexpr std::string_view kGuardWasKilled =
    "the process that answers calls (syscost-guard) was killed while it started";
constexpr std::string_view kHowToLetItLive = "do not kill processes that the test did not start";

/// Under the filter, without a process that answers: no call returns but those with our cookie. So nothing may be
/// allocated here, and the program can only be ended.
[[noreturn]] void end_with_a_word(const Shared& shared, int output) {
  for (const std::string_view text : {std::string_view("syscost: "), kGuardWasKilled, std::string_view("\n  fix: "),
                                      kHowToLetItLive, std::string_view("\n")}) {
    marked_call(shared.cookie, SYS_write, output, text.data(), text.size());
  }
  for (;;) marked_call(shared.cookie, SYS_exit_group, 2);
}

// AddressSanitizer calls the kernel before a call that does not return, and under the filter that waits for ever.
__attribute__((no_sanitize("address"))) Result<void> start(Shared& shared, const std::vector<sock_filter>& program) {
  // Adopted, the guard would be a child that every wait() waits for.
  const bool stays_ours = adopts_orphans();
  const Result<pid_t> started = start_guard(shared, stays_ours);
  if (!started.ok()) return started.failure();
  const pid_t guard = started.value();
  // Without a filter yet, the program can say that it has ended.
  while (shared.phase.load() == kStarting) {
    wait_for_phase(shared, kStarting, 100);
    if (shared.phase.load() == kStarting && has_ended(shared, guard)) {
      return Failure{std::string(kGuardWasKilled), std::string(kHowToLetItLive)};
    }
  }
  const int output = message_output();
  // The guard has it; no later child shall.
  const bool is_kept = let_children_inherit(shared, false);
  const int listener = is_kept ? install_filter(program, true, &shared.is_wait_killable) : -errno;
  if (listener < 0) {
    set_phase(shared, kGivenUp);
    wait_for_quiet_child(guard);
    return explain_install_failure(-listener);
  }
  // From here on every call but those with our cookie waits for the supervisor.
  shared.listener = listener;
  set_phase(shared, kListening);
  while (shared.phase.load() == kListening) {
    wait_for_phase(shared, kListening, 100);
    if (shared.phase.load() != kListening || !has_ended(shared, guard)) continue;
    end_with_a_word(shared, output);
  }
  close_listener(shared, listener);
  set_phase(shared, kServing);
  while (!stays_ours && !has_ended(shared, guard, 0) && errno == EINTR) {
  }
  return {};
}

}  // namespace

Result<Shared*> install(const Filter* filter, bool children, bool unselected) {
  if (g_installed.shared != nullptr && g_installed.process == getpid()) {
    const bool notifies_enough = !unselected || g_installed.shared->notifies_everything;
    if (g_installed.filter == text_of(filter) && notifies_enough) return g_installed.shared;
    return Failure{
        "this process already has a seccomp filter for another --syscost_filter, and a seccomp filter cannot be "
        "removed",
        "give all parts of the program the same filter"};
  }
  Result<void> available = check_user_notification();
  if (available.ok()) available = check_tracer_filters();
  if (!available.ok()) return available.failure();
  Result<Shared*> shared = make_shared_memory(filter, children, unselected);
  if (!shared.ok()) return shared;
  Result<std::vector<sock_filter>> program = make_filter_program(unselected ? nullptr : filter, shared.value()->cookie);
  Result<void> done = program.ok() ? probe() : program.failure();
  if (done.ok()) done = start(*shared.value(), program.value());
  if (!done.ok()) {
    unmap_shared(shared.value());
    return done.failure();
  }
  set_own_calls_marks(shared.value()->cookie, shared.value()->own_sessions);
  g_installed = {shared.value(), getpid(), text_of(filter)};
  return shared;
}

namespace {

constexpr std::uint64_t kKnownCalls = 64;
/// A child that says nothing for so long is stuck.
constexpr int kPatienceMs = 5000;

[[noreturn]] void be_probed(Shared& shared, const std::vector<sock_filter>& program) {
  const int listener = install_filter(program, false);
  shared.listener = listener;
  set_phase(shared, listener < 0 ? kGivenUp : kListening);
  if (listener < 0) _exit(1);
  for (std::uint64_t call = 0; call < kKnownCalls; ++call) syscall(SYS_getppid);
  _exit(0);
}

void supervise(Shared& shared, pid_t child, int listener) {
  Counter counter(shared, child);
  Mailbox mailbox{};
  Notification notification;
  for (pollfd ready{listener, POLLIN, 0}; poll(&ready, 1, kPatienceMs) > 0 && (ready.revents & POLLHUP) == 0;) {
    if (!receive(listener, mailbox, notification)) continue;
    counter.count(notification);
    let_continue(listener, notification.id);
    mailbox.clear();
  }
}

Result<void> judge(Shared& shared) {
  const std::uint64_t counted = shared.banks[0][0].entries[SYS_getppid].load();
  if (counted == kKnownCalls) return {};
  return Failure{"the supervisor counted " + std::to_string(counted) + " of " + std::to_string(kKnownCalls) +
                     " known calls of a child",
                 "report this with the output of --syscost_doctor and uname -a"};
}

}  // namespace

Result<void> probe() {
  const std::unique_ptr<Shared, void (*)(Shared*)> shared(map_shared(), unmap_shared);
  if (shared == nullptr) return errno_failure("map", "memory to share with the supervisor", errno);
  shared->cookie = 1;
  Result<std::vector<sock_filter>> program = make_filter_program(nullptr, shared->cookie);
  if (!program.ok()) return program.failure();
  shared->lanes[0].control = make_control(1, 0);
  const pid_t child = clone_quietly();
  if (child < 0) return errno_failure("start", "the probe", errno);
  if (child == 0) be_probed(*shared, program.value());

  wait_for_phase(*shared, kStarting, kPatienceMs);
  const std::uint32_t phase = shared->phase.load();
  const int listener = shared->listener.load();
  if (phase == kListening) {
    supervise(*shared, child, listener);
    close(listener);
  } else {
    // It may be stuck.
    kill(child, SIGKILL);
  }
  wait_for_quiet_child(child);
  if (phase == kGivenUp) return explain_install_failure(-listener);
  return judge(*shared);
}

}  // namespace syscost::seccomp
