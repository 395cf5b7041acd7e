// SPDX-License-Identifier: MIT
//
// Signals: where "a trip into the kernel" and "a call with a result" part ways.
//
// A signal makes the kernel abandon a call, run a handler (which leaves through rt_sigreturn) and, with SA_RESTART,
// start the call again. The program sees one read; the kernel was entered twice; the first trip ended with a number
// (-512) that no program ever sees. The rows below state both views. The Assistant sends each signal when the main
// thread is known to be blocked, and waits for the handler before the next step, so that the numbers are exact.
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <memory>

#include "assistant.h"
#include "case.h"
#include "raw.h"
#include "signals.h"

namespace conformance {
namespace {

int g_pipe[2] = {-1, -1};
int g_epoll = -1;
pid_t g_tid = 0;
std::unique_ptr<Assistant> g_assistant;
sigjmp_buf g_jump;

void count_only(int /*signal*/) {
  g_assistant->count_handled();
}

void make_three_calls(int /*signal*/) {
  repeat_raw(3, 0, SYS_getppid);
  g_assistant->count_handled();
}

void start_assistant() {
  if (pipe(g_pipe) != 0) problem("pipe failed");
  g_tid = static_cast<pid_t>(raw(SYS_gettid));
  g_assistant = std::make_unique<Assistant>();
}

void stop_assistant() {
  g_assistant.reset();
}

long read_byte() {
  char byte = 0;
  return raw(SYS_read, g_pipe[0], &byte, 1);
}

const Register kEintrRead(Case{
    .number = 9,
    .name = "eintr_read",
    .summary =
        "A read that a signal interrupts is one call that failed with EINTR; the handler's return is not an error.",
    .setup =
        [] {
          start_assistant();
          handle(SIGUSR1, count_only, 0);
        },
    .windows = {{"",
                 [] {
                   g_assistant->when_blocked_signal(g_tid, SYS_read, SIGUSR1);
                   require(read_byte() == -EINTR, "read was not interrupted");
                   g_assistant->wait();
                 },
                 {calls("read", 1).failing(EINTR, 1), calls("rt_sigreturn", 1)}}},
    .teardown = stop_assistant,
});

// Blocks in read, is interrupted `signals` times, then gets its byte.
void read_through_signals(std::uint32_t signals) {
  for (std::uint32_t i = 0; i < signals; ++i) g_assistant->when_blocked_signal(g_tid, SYS_read, SIGUSR1, i);
  g_assistant->when_blocked_write(g_tid, SYS_read, g_pipe[1], signals);
  require(read_byte() == 1, "read was not restarted");
  g_assistant->wait();
}

const Register kSaRestart(Case{
    .number = 10,
    .name = "sa_restart_read",
    .summary = "A read restarted after a handler is one call and two entries.",
    .setup =
        [] {
          start_assistant();
          handle(SIGUSR1, count_only, SA_RESTART);
        },
    .windows = {{"", [] { read_through_signals(1); }, {calls("read", 1).restarted(1), calls("rt_sigreturn", 1)}}},
    .teardown = stop_assistant,
});

const Register kSaRestartMany(Case{
    .number = 10,
    .name = "sa_restart_read_x5",
    .summary = "A read restarted five times is one call and six entries.",
    .setup =
        [] {
          start_assistant();
          handle(SIGUSR1, count_only, SA_RESTART);
        },
    .windows = {{"", [] { read_through_signals(5); }, {calls("read", 1).restarted(5), calls("rt_sigreturn", 5)}}},
    .teardown = stop_assistant,
});

// Without a handler the kernel resumes a wait with a deadline by restart_syscall, so that the deadline stays.
void be_stopped_in_poll() {
  pollfd poll_pipe = {g_pipe[0], POLLIN, 0};
  g_assistant->when_blocked_signal(g_tid, SYS_poll, SIGSTOP);
  g_assistant->when_stopped_signal(g_tid, SIGCONT);
  g_assistant->when_blocked_write(g_tid, SYS_restart_syscall, g_pipe[1]);
  require(raw(SYS_poll, &poll_pipe, 1, 1'000'000) == 1, "poll was not resumed");
  g_assistant->wait();
}

const Register kStopped(Case{
    .number = 11,
    .name = "stopped_in_poll",
    .summary = "A poll stopped and continued is one call and two entries: restart_syscall is the same call.",
    .setup = start_assistant,
    .windows = {{"", be_stopped_in_poll, {calls("poll", 1).restarted(1)}}},
    .teardown = stop_assistant,
});

void interrupt_each_wait() {
  pollfd poll_pipe = {g_pipe[0], POLLIN, 0};
  g_assistant->when_blocked_signal(g_tid, SYS_ppoll, SIGUSR1);
  require(raw(SYS_ppoll, &poll_pipe, 1, nullptr, nullptr, 0) == -EINTR, "ppoll was not interrupted");
  g_assistant->wait();

  epoll_event event = {};
  g_assistant->when_blocked_signal(g_tid, SYS_epoll_wait, SIGUSR1);
  require(raw(SYS_epoll_wait, g_epoll, &event, 1, -1) == -EINTR, "epoll_wait was not interrupted");
  g_assistant->wait();

  // With a timeout, restart_syscall would continue futex and nanosleep. But a handler runs here, so both end with
  // EINTR, with SA_RESTART or without.
  std::uint32_t word = 0;
  timespec long_time = {1000, 0};
  g_assistant->when_blocked_signal(g_tid, SYS_futex, SIGUSR1);
  require(raw(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &long_time) == -EINTR, "futex was not interrupted");
  g_assistant->wait();

  g_assistant->when_blocked_signal(g_tid, SYS_nanosleep, SIGUSR1);
  require(raw(SYS_nanosleep, &long_time, &long_time) == -EINTR, "nanosleep was not interrupted");
  g_assistant->wait();
}

const Register kInterruptedWaits(Case{
    .number = 12,
    .name = "interrupted_waits",
    .summary = "ppoll, epoll_wait, futex and nanosleep end with EINTR under a handler, even one with SA_RESTART.",
    .setup =
        [] {
          start_assistant();
          g_epoll = epoll_create1(EPOLL_CLOEXEC);
          handle(SIGUSR1, count_only, SA_RESTART);
        },
    .windows = {{"",
                 interrupt_each_wait,
                 {calls("ppoll", 1).failing(EINTR, 1), calls("epoll_wait", 1).failing(EINTR, 1),
                  calls("futex", 1).failing(EINTR, 1), calls("nanosleep", 1).failing(EINTR, 1),
                  calls("rt_sigreturn", 4)}}},
    .teardown = stop_assistant,
});

const Register kCallsInHandler(Case{
    .number = 13,
    .name = "calls_in_handler",
    .summary = "Calls made by a handler are counted, and the read it interrupted is still restarted once.",
    .setup =
        [] {
          start_assistant();
          handle(SIGUSR1, make_three_calls, SA_RESTART);
        },
    .windows = {{"",
                 [] { read_through_signals(1); },
                 {calls("read", 1).restarted(1), calls("getppid", 3), calls("rt_sigreturn", 1)}}},
    .teardown = stop_assistant,
});

// The handler interrupts a loop that holds -4 (-EINTR) in rax; rt_sigreturn "returns" that value.
void be_interrupted_with_minus_4_in_rax() {
  g_assistant->when_set_signal(g_tid, SIGUSR1);
  std::uint32_t before = g_assistant->handled();
  long rax = -4;
  asm volatile(
      "movl $1, %[flag]\n\t"
      "1: pause\n\t"
      "cmpl %[before], %[handled]\n\t"
      "je 1b"
      : "+a"(rax), [flag] "+m"(g_assistant->flag())
      : [handled] "m"(g_assistant->handled_word()), [before] "r"(before)
      : "memory", "cc");
  require(rax == -4, "rt_sigreturn did not restore rax");
  g_assistant->wait();
}

const Register kSigreturnRax(Case{
    .number = 15,
    .name = "sigreturn_rax_minus_4",
    .summary = "An rt_sigreturn that restores -4 into rax is not a failed call.",
    .setup =
        [] {
          start_assistant();
          handle(SIGUSR1, count_only, SA_RESTART);
        },
    .windows = {{"", be_interrupted_with_minus_4_in_rax, {calls("rt_sigreturn", 1)}}},
    .teardown = stop_assistant,
});

void jump_out(int /*signal*/) {
  g_assistant->count_handled();
  siglongjmp(g_jump, 1);
}

// Neither read comes back. Without SA_RESTART the kernel has decided on EINTR when the handler starts; with it, it has
// decided to start the read again, and the jump prevents that.
void jump_out_of_reads() {
  if (sigsetjmp(g_jump, 0) == 0) {
    g_assistant->when_blocked_signal(g_tid, SYS_read, SIGUSR1);
    read_byte();
    problem("read returned although the handler jumped");
  }
  g_assistant->wait();
  if (sigsetjmp(g_jump, 0) == 0) {
    g_assistant->when_blocked_signal(g_tid, SYS_read, SIGUSR2);
    read_byte();
    problem("read returned although the handler jumped");
  }
  g_assistant->wait();
  repeat_raw(5, 0, SYS_getppid);
}

const Register kSiglongjmp(Case{
    .number = 16,
    .name = "siglongjmp_out_of_read",
    .summary = "A read left by siglongjmp is an EINTR without SA_RESTART, and with it a restart without a call; later "
               "calls are exact.",
    .setup =
        [] {
          start_assistant();
          handle(SIGUSR1, jump_out, SA_NODEFER);
          handle(SIGUSR2, jump_out, SA_NODEFER | SA_RESTART);
        },
    .windows = {{"", jump_out_of_reads, {calls("read", 1).failing(EINTR, 1).restarted(1), calls("getppid", 5)}}},
    .teardown = stop_assistant,
});

}  // namespace
}  // namespace conformance
