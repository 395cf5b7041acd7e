// SPDX-License-Identifier: MIT
#include "findings/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "render/numbers.h"

namespace syscost::bench::findings {
namespace {

using render::count;
using Calls = std::vector<const TracedCall*>;

/// I/O that fails with EAGAIN if there is nothing to do.
constexpr std::array<std::string_view, 10> kTries = {"read",    "readv",  "recvfrom", "recvmsg", "recvmmsg",
                                                     "accept4", "accept", "write",    "sendto",  "sendmsg"};

/// A note: a barrier of a test spins so that threads start together, and a scheduler of tasks backs off so.
void add_yields(const CallSum& yields, std::string_view per, std::string site, std::vector<Hit>& hits) {
  if (yields.calls < kManyYields) return;
  hits.push_back(
      {"sched_yield", std::move(site),
       fmt::format("{} sched_yield{}: a thread spins until another one has done something", count(yields.calls), per),
       yields.kernel_ns.value_or(0), true});
}

/// Calls of one thread that ask for the same thing, and find nothing, without a wait in between.
struct Asking {
  Calls calls;
  double ns = 0;  ///< From the first one's begin to the last one's end.

  void add_row(const Asking& row) {
    calls.insert(calls.end(), row.calls.begin(), row.calls.end());
    ns += row.ns;
  }
};

/// The row that a thread is in.
struct AskingThread {
  Calls row;
  std::string_view name;

  Asking end_asking() {
    Asking out;
    if (!row.empty()) {
      out.ns = row.back()->end_ns() - row.front()->start_ns();
    }
    out.calls = std::move(row);
    row.clear();
    return out;
  }
};

/// True if the call asks whether there is something to do, without a wait, and there is nothing.
bool asks_in_vain(const TracedCall& call) {
  if (call.took_ns() > kShortestWaitNs) return false;  // a receive may have a time limit (SO_RCVTIMEO)
  if (is_one_of(kPolls, call.name())) return call.result == 0;
  return is_one_of(kTries, call.name()) && call.call->error() == "EAGAIN";
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
                    tries.kernel_ns ? *tries.kernel_ns * refused / tries.calls : 0, true});
  }
  return hits;
}

std::vector<Hit> busy_polling_in_order(const TracedWindow& window) {
  std::map<std::uint32_t, AskingThread> threads;
  std::map<std::string_view, Asking> asked;  // by syscall
  const auto end_row = [&](AskingThread& thread) {
    if (const Asking row = thread.end_asking(); row.calls.size() >= kPollsInARow) asked[thread.name].add_row(row);
  };
  Calls yields;
  std::map<std::uint32_t, Calls> yielding;
  const auto end_yields = [&](Calls& row) {
    if (row.size() >= kYieldsInARow) yields.insert(yields.end(), row.begin(), row.end());
    row.clear();
  };
  for (const TracedCall& call : window.calls()) {
    Calls& yielded = yielding[call.call->thread];
    if (call.name() == "sched_yield") {
      yielded.push_back(&call);
      continue;
    }
    end_yields(yielded);
    AskingThread& thread = threads[call.call->thread];
    if (asks_in_vain(call)) {
      const bool goes_on = thread.name == call.name() && !thread.row.empty();
      if (!goes_on) {
        end_row(thread);
        thread.name = call.name();
      }
      thread.row.push_back(&call);
    } else {
      end_row(thread);
    }
  }
  for (auto& [id, row] : yielding) end_yields(row);
  for (auto& [id, thread] : threads) end_row(thread);
  std::vector<Hit> hits;
  CallSum all_yields;
  all_yields.calls = static_cast<double>(yields.size());
  all_yields.kernel_ns = cost_of(yields);
  add_yields(all_yields, "", site_of(yields), hits);
  for (const auto& [name, asking] : asked) {
    if (static_cast<double>(asking.calls.size()) < kManyRefused || asking.ns < kSpinsNs) continue;
    hits.push_back({std::string(name), site_of(asking.calls),
                    fmt::format("{} {} in rows find nothing and do not wait, in {}", asking.calls.size(), name,
                                render::duration(asking.ns)),
                    cost_of(asking.calls), true});
  }
  return hits;
}

namespace {

bool is_work(const TracedCall& call) {
  return is_one_of(kWrites, call.name()) || is_one_of(kReads, call.name()) || is_one_of(kSyncs, call.name()) ||
         is_one_of(kOpens, call.name()) || is_one_of(kSends, call.name());
}

/// True if the thread that frees the lock last before the wait ends works, and does not sleep, while the other waits.
bool waits_for_work(const TracedCall& wait, const Calls& wakes, const std::map<std::uint32_t, Calls>& by_thread) {
  const double start_ns = wait.start_ns();
  const TracedCall* wake = nullptr;
  for (const TracedCall* one : wakes) {
    if (one->call->thread == wait.call->thread || one->end_ns() < start_ns) continue;
    if (one->start_ns() > wait.end_ns()) break;
    wake = one;
  }
  if (wake == nullptr) return false;
  bool works = false;
  const Calls& calls = by_thread.at(wake->call->thread);
  for (std::size_t i = wake->in_thread; i-- > 0;) {
    const TracedCall& call = *calls[i];
    if (call.end_ns() < start_ns) break;
    if (is_one_of(kSleeps, call.name())) return false;
    works = works || is_work(call);
  }
  return works;
}

}  // namespace

std::vector<Hit> lock_convoy(const TracedWindow& window) {
  struct Lock {
    Calls waits;
    Calls wakes;
  };
  std::map<std::string_view, Lock> locks;
  std::map<std::uint32_t, Calls> by_thread;
  for (const TracedCall& call : window.calls()) {
    by_thread[call.call->thread].push_back(&call);
    if (call.name() != "futex") continue;
    const std::string_view op = window.argument(call, "op");
    if (op.starts_with("FUTEX_WAKE")) locks[window.argument(call, "uaddr")].wakes.push_back(&call);
    if (!op.starts_with("FUTEX_WAIT")) continue;
    // glibc's locks wait while the word is 2; its condition variables and semaphores wait for other values.
    if (window.number(call, "val") != 2 || window.argument(call, "utime") != "NULL") continue;
    if (call.call->error() == "EAGAIN") continue;  // it was free again, and nothing waited
    locks[window.argument(call, "uaddr")].waits.push_back(&call);
  }
  std::vector<Hit> hits;
  for (const auto& [address, lock] : locks) {
    if (lock.waits.size() < kManyLockWaits) continue;
    std::set<std::uint32_t> threads;
    std::size_t for_work = 0;
    for (const TracedCall* call : lock.waits) {
      threads.insert(call->call->thread);
      for_work += waits_for_work(*call, lock.wakes, by_thread) ? 1 : 0;
    }
    if (threads.size() < 2) continue;
    const double ns = cost_of(lock.waits);
    std::string evidence =
        fmt::format("{} threads wait {} times for one lock, {} each on average", threads.size(), lock.waits.size(),
                    render::duration(ns / static_cast<double>(lock.waits.size())));
    if (2 * for_work >= lock.waits.size()) {
      evidence += fmt::format("; {} times the other thread reads, writes or sends meanwhile", for_work);
    }
    hits.push_back({"futex", site_of(lock.waits), std::move(evidence), ns, true});
  }
  return hits;
}

}  // namespace syscost::bench::findings
