// SPDX-License-Identifier: MIT
#include "backends/seccomp/probe.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/seccomp/filter_program.h"
#include "backends/seccomp/installation.h"
#include "backends/seccomp/listener.h"
#include "backends/seccomp/shared.h"
#include "backends/seccomp/supervisor.h"
#include "os/quiet_child.h"

namespace syscost::seccomp {
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
