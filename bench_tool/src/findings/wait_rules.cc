// SPDX-License-Identifier: MIT
#include "findings/wait_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using render::count;
using Calls = std::vector<const TracedCall*>;

/// I/O that fails with EAGAIN if there is nothing to do.
constexpr std::array<std::string_view, 10> kTries = {"read",    "readv",  "recvfrom", "recvmsg", "recvmmsg",
                                                     "accept4", "accept", "write",    "sendto",  "sendmsg"};

/// The timeout in ms, if it is an argument; those in memory are addresses, of which the trace has no content.
std::optional<std::int64_t> timeout_ms(const TracedWindow& window, const TracedCall& call) {
  if (call.name() == "poll") return window.number(call, "timeout_msecs");
  if (call.name() == "epoll_wait" || call.name() == "epoll_pwait") return window.number(call, "timeout");
  return std::nullopt;
}

void add_yields(const CallSum& yields, std::string_view per, std::string site, std::vector<Hit>& hits) {
  if (yields.calls < kManyYields) return;
  hits.push_back(
      {"sched_yield", std::move(site),
       fmt::format("{} sched_yield{}: a thread spins until another one has done something", count(yields.calls), per),
       yields.kernel_ns.value_or(0)});
}

std::string sleeps_text(double calls, std::string_view per, double ns) {
  return fmt::format("{} {}{} take{} {}", count(calls), calls == 1 ? "sleep" : "sleeps", per, calls == 1 ? "s" : "",
                     render::duration(ns));
}

}  // namespace

std::vector<Hit> busy_polling(const WindowCalls& window) {
  static constexpr std::array<std::string_view, 1> kYield = {"sched_yield"};
  std::vector<Hit> hits;
  if (const CallSum yields = window.sum(kYield); yields.calls >= kManyYields) {
    add_yields(yields, window.per(), window.site_of(kYield), hits);
  }
  for (const std::string_view& name : kTries) {
    const Syscalls one(&name, 1);
    const CallSum tries = window.sum(one);
    const double refused = tries.failed_with("EAGAIN");
    if (refused < kManyRefused || refused < kRefusedShare * tries.calls) continue;
    hits.push_back({std::string(name), window.site_of(one),
                    fmt::format("{} of {} {}{} find nothing to do (EAGAIN)", count(refused), count(tries.calls), name,
                                window.per()),
                    tries.kernel_ns ? *tries.kernel_ns * refused / tries.calls : 0});
  }
  return hits;
}

std::vector<Hit> busy_polling_in_order(const TracedWindow& window) {
  struct Thread {
    Calls empty;  ///< Polls with a timeout of 0, without an answer, since a call did something.
    Calls yields;
    std::map<std::string_view, Calls> refused;
  };
  std::map<std::uint32_t, Thread> threads;
  Calls empty;
  Calls yields;
  std::map<std::string_view, Calls> refused;
  constexpr std::size_t kInARow = 8;
  const auto keep = [](Calls& from, Calls& to) {
    if (from.size() >= kInARow) to.insert(to.end(), from.begin(), from.end());
    from.clear();
  };
  for (const TracedCall& call : window.calls()) {
    Thread& thread = threads[call.call->thread];
    if (call.name() == "sched_yield") {
      thread.yields.push_back(&call);
    } else if (timeout_ms(window, call) == 0 && call.result == 0) {
      thread.empty.push_back(&call);
    } else if (is_one_of(kTries, call.name()) && call.call->error() == "EAGAIN") {
      thread.refused[call.name()].push_back(&call);
    } else if (is_one_of(kPolls, call.name()) || is_one_of(kSleeps, call.name()) || call.name() == "futex" ||
               is_one_of(kTries, call.name())) {
      // It waited, or it had something to do.
      keep(thread.empty, empty);
      keep(thread.yields, yields);
      for (auto& [name, calls] : thread.refused) keep(calls, refused[name]);
    }
  }
  for (auto& [id, thread] : threads) {
    keep(thread.empty, empty);
    keep(thread.yields, yields);
    for (auto& [name, calls] : thread.refused) keep(calls, refused[name]);
  }
  std::vector<Hit> hits;
  CallSum all_yields;
  all_yields.calls = static_cast<double>(yields.size());
  all_yields.kernel_ns = cost_of(yields);
  add_yields(all_yields, "", site_of(yields), hits);
  if (static_cast<double>(empty.size()) >= kManyEmptyPolls) {
    hits.push_back(
        {std::string(empty.front()->name()), site_of(empty),
         fmt::format("{} {} in rows have a timeout of 0 and find nothing", empty.size(), empty.front()->name()),
         cost_of(empty)});
  }
  for (const auto& [name, calls] : refused) {
    if (static_cast<double>(calls.size()) < kManyRefused) continue;
    hits.push_back(
        {std::string(name), site_of(calls),
         fmt::format("{} {} in rows find nothing to do (EAGAIN), without a wait in between", calls.size(), name),
         cost_of(calls)});
  }
  return hits;
}

std::vector<Hit> sleep_in_test(const WindowCalls& window) {
  if (window.summary().kind == "process") return {};
  const CallSum sleeps = window.sum(kSleeps);
  if (!sleeps.kernel_ns || *sleeps.kernel_ns < kLongSleepsNs || *sleeps.kernel_ns < kLongSleepNs * sleeps.calls) {
    return {};
  }
  return {{std::string(sleeps.most), window.site_of(kSleeps),
           sleeps_text(sleeps.calls, window.per(), *sleeps.kernel_ns), *sleeps.kernel_ns}};
}

std::vector<Hit> sleep_in_test_in_order(const TracedWindow& window) {
  Calls sleeps;
  for (const TracedCall& call : window.calls()) {
    if (is_one_of(kSleeps, call.name()) && call.took_ns() >= kLongSleepNs) sleeps.push_back(&call);
  }
  const double ns = cost_of(sleeps);
  if (ns < kLongSleepsNs) return {};
  return {{std::string(sleeps.front()->name()), slowest_site_of(sleeps),
           sleeps_text(static_cast<double>(sleeps.size()), "", ns), ns}};
}

std::vector<Hit> short_timeouts(const WindowCalls& window) {
  static constexpr std::array<std::string_view, 1> kFutex = {"futex"};
  std::vector<Hit> hits;
  const CallSum sleeps = window.sum(kSleeps);
  if (sleeps.calls >= kManyShortWaits && sleeps.kernel_ns && *sleeps.kernel_ns < kShortWaitNs * sleeps.calls) {
    hits.push_back({std::string(sleeps.most), window.site_of(kSleeps),
                    fmt::format("{} sleeps{} take {} each on average", count(sleeps.calls), window.per(),
                                render::duration(*sleeps.kernel_ns / sleeps.calls)),
                    *sleeps.kernel_ns});
  }
  const CallSum waits = window.sum(kFutex);
  const double timed_out = waits.failed_with("ETIMEDOUT");
  if (timed_out >= kManyShortWaits && waits.kernel_ns && *waits.kernel_ns < kShortWaitNs * timed_out) {
    hits.push_back({"futex", window.site_of(kFutex),
                    fmt::format("{} of {} futex{} time out", count(timed_out), count(waits.calls), window.per()),
                    *waits.kernel_ns * timed_out / waits.calls});
  }
  return hits;
}

std::vector<Hit> short_timeouts_in_order(const TracedWindow& window) {
  std::map<std::string_view, Calls> by_name;
  for (const TracedCall& call : window.calls()) {
    if (!call.call->took_ns || call.took_ns() >= kShortWaitNs) continue;
    const bool is_poll = is_one_of(kPolls, call.name()) && call.result == 0 && timeout_ms(window, call) != 0;
    const bool is_wait = call.name() == "futex" && call.call->error() == "ETIMEDOUT";
    const bool is_sleep = is_one_of(kSleeps, call.name()) && !call.failed();
    if (is_poll || is_wait || is_sleep) by_name[call.name()].push_back(&call);
  }
  std::vector<Hit> hits;
  for (const auto& [name, calls] : by_name) {
    if (static_cast<double>(calls.size()) < kManyShortWaits) continue;
    const double ns = cost_of(calls);
    hits.push_back({std::string(name), site_of(calls),
                    fmt::format("{} {} end after {} on average, because their time is over", calls.size(), name,
                                render::duration(ns / static_cast<double>(calls.size()))),
                    ns});
  }
  return hits;
}

std::vector<Hit> lock_convoy(const TracedWindow& window) {
  std::map<std::string_view, Calls> locks;
  for (const TracedCall& call : window.calls()) {
    if (call.name() != "futex" || !window.argument(call, "op").starts_with("FUTEX_WAIT")) continue;
    // glibc's locks wait while the word is 2; its condition variables and semaphores wait for other values.
    if (window.number(call, "val") != 2 || window.argument(call, "utime") != "NULL") continue;
    if (call.call->error() == "EAGAIN") continue;  // it was free again, and nothing waited
    locks[window.argument(call, "uaddr")].push_back(&call);
  }
  std::vector<Hit> hits;
  for (const auto& [address, calls] : locks) {
    if (calls.size() < kManyLockWaits) continue;
    std::set<std::uint32_t> threads;
    for (const TracedCall* call : calls) threads.insert(call->call->thread);
    if (threads.size() < 2) continue;
    const double ns = cost_of(calls);
    hits.push_back({"futex", site_of(calls),
                    fmt::format("{} threads wait {} times for one lock, {} each on average", threads.size(),
                                calls.size(), render::duration(ns / static_cast<double>(calls.size()))),
                    ns});
  }
  return hits;
}

}  // namespace syscost::bench::findings
