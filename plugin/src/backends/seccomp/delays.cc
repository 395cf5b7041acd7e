// SPDX-License-Identifier: MIT
#include "backends/seccomp/delays.h"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <limits>

namespace syscost::seccomp {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

void settle(int listener, std::uint64_t id, const Verdict& verdict) {
  if (verdict.is_answered) {
    answer(listener, id, verdict.result);
  } else {
    let_continue(listener, id);
  }
}

void Delays::add(std::uint64_t id, const Verdict& verdict) {
  DelayedCall* const end = std::end(ledger_.delayed);
  DelayedCall* const free = std::find_if(std::begin(ledger_.delayed), end, [](auto& call) { return call.id == 0; });
  if (free == end) return settle(listener_, id, verdict);
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t longest = std::numeric_limits<std::uint64_t>::max() - now;
  free->due_ns = now + std::min(verdict.delay_ns, longest);
  free->result = verdict.result;
  free->is_answered = verdict.is_answered;
  free->id.store(id, std::memory_order_release);
  ++waiting_;
}

bool Delays::wait_for_call() {
  if (waiting_ == 0) return true;
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t now = monotonic_ns();
  waiting_ = 0;
  for (DelayedCall& call : ledger_.delayed) {
    if (call.id == 0) continue;
    if (call.due_ns <= now) {
      settle(listener_, call.id, {call.is_answered, call.result, 0});
      call.id = 0;
      continue;
    }
    next = std::min(next, call.due_ns);
    ++waiting_;
  }
  if (waiting_ == 0) return true;
  const std::uint64_t left = std::min(next - now, kSecondNs);
  const timespec timeout{static_cast<time_t>(left / kSecondNs), static_cast<long>(left % kSecondNs)};
  // If there is no room for another one that waits, none is received.
  pollfd state{listener_, POLLIN, 0};
  return ppoll(&state, waiting_ < kDelayedCalls ? 1 : 0, &timeout, nullptr) > 0;
}

}  // namespace syscost::seccomp
