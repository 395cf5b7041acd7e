// SPDX-License-Identifier: MIT
#include "core/own_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace syscost {
namespace {

std::atomic<std::uint64_t> g_cookie{0};
std::atomic<std::uint64_t> g_sixth_argument{0};
std::atomic<std::atomic<pid_t>*> g_session{nullptr};

void tell(int begins) {
  if (const std::uint64_t cookie = g_cookie.load(); cookie != 0) syscall(SYS_gettid, cookie, begins);
}

}  // namespace

void begin_own_calls() {
  tell(1);
}

void end_own_calls() {
  tell(0);
}

long own_call(long number, long first, long second) {
  return syscall(number, first, second, 0, 0, 0, g_sixth_argument.load());
}

// Told before there is such a session: the number is the process's own.
void begin_own_session() {
  begin_own_calls();
  if (std::atomic<pid_t>* session = g_session.load(); session != nullptr) {
    session->store(static_cast<pid_t>(own_call(SYS_gettid, 0)));
  }
  setsid();
}

void end_own_session() {
  if (std::atomic<pid_t>* session = g_session.load(); session != nullptr) session->store(0);
}

void tell_own_calls_by(std::uint64_t cookie) {
  g_cookie.store(cookie);
}

void mark_own_calls_by(std::uint64_t sixth_argument, std::atomic<pid_t>* session) {
  g_sixth_argument.store(sixth_argument);
  g_session.store(session);
}

}  // namespace syscost
