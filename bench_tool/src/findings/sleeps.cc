// SPDX-License-Identifier: MIT
//
// Sleeps of a window: which of them wait for an event that could have woken the thread? And the rules about them.
//
// A sleep alone proves nothing: a test of a timer has to sleep. Two forms do prove something. A thread that sleeps,
// looks, finds nothing and sleeps again waits for what it looks for. And a thread that sleeps and then connects, while
// the server has listened for most of that time, could have connected earlier.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/rules.h"
#include "findings/thresholds.h"
#include "findings/traced_window.h"
#include "findings/window_calls.h"
#include "render/numbers.h"

namespace syscost::bench::findings {
namespace {

/// A sleep before a connect, to a server that listened before the sleep was over.
struct Overslept {
  const TracedCall* sleep = nullptr;
  double needless_ns = 0;  ///< From the listen, or the sleep's begin, to the sleep's end.
};

struct Sleeps {
  std::vector<const TracedCall*> polled;  ///< In rows, with a look in between that finds nothing.
  std::vector<Overslept> overslept;
  std::vector<const TracedCall*> others;  ///< All that are in neither of these.
};

using Calls = std::vector<const TracedCall*>;

/// True for a sleep that is over: nanosleep and its relatives, and a poll or select that waits for nothing but its
/// time.
bool is_sleep(const TracedWindow& window, const TracedCall& call) {
  const std::string_view name = call.name();
  if (is_one_of(kSleeps, name)) return !call.failed();
  if (call.result != 0 || call.took_ns() <= kShortestWaitNs) return false;
  if (name == "poll" || name == "ppoll") return window.number(call, "nfds") == 0;
  if (name != "select" && name != "pselect6") return false;
  static constexpr std::array<std::string_view, 3> kSets = {"inp", "outp", "exp"};
  return std::all_of(kSets.begin(), kSets.end(),
                     [&](std::string_view set) { return window.argument(call, set) == "NULL"; });
}

/// True for a call that looks for an event and finds that it has not come.
bool looks_in_vain(const TracedCall& call) {
  if (is_one_of(kPolls, call.name()) || call.name() == "wait4" || call.name() == "waitid") return call.result == 0;
  return call.failed() && call.name() != "futex" && call.call->error() != "EINTR";
}

/// True for a call that a loop of looks makes beside its look: it neither looks nor does the work of a producer.
bool is_beside(const TracedCall& call) {
  static constexpr std::array<std::string_view, 20> kBeside = {
      "socket",        "close",        "fcntl",    "setsockopt", "getsockopt",     "ioctl",  "brk",
      "mmap",          "munmap",       "mprotect", "stat",       "getpid",         "gettid", "newfstatat",
      "clock_gettime", "gettimeofday", "madvise",  "futex",      "rt_sigprocmask", "fstat"};
  return is_one_of(kBeside, call.name());
}

/// A thread's sleeps of one line, as long as nothing but looks is in between.
struct SleepRow {
  Calls sleeps;
  std::size_t looks = 0;  ///< So many of the gaps between them have a look.
  std::string_view look;  ///< The syscall of the last one.
  bool has_looked = false;
  bool has_worked = false;
  bool has_found = false;  ///< After the last sleep such a look found something: this is what the thread waited for.
};

void end_sleep_row(SleepRow& row, Calls& polled, Calls& others) {
  const bool is_polling = row.sleeps.size() >= kPolledSleeps && row.looks + 1 == row.sleeps.size() && row.has_found;
  Calls& to = is_polling ? polled : others;
  to.insert(to.end(), row.sleeps.begin(), row.sleeps.end());
  row = {};
}

void split_rows(const TracedWindow& window, Calls& polled, Calls& others) {
  std::map<std::uint32_t, SleepRow> rows;  // by thread
  for (const TracedCall& call : window.calls()) {
    SleepRow& row = rows[call.call->thread];
    if (is_sleep(window, call)) {
      const bool goes_on =
          !row.sleeps.empty() && !row.has_worked && row.has_looked && row.sleeps.back()->call->site == call.call->site;
      if (!goes_on) end_sleep_row(row, polled, others);
      if (goes_on) ++row.looks;
      row.sleeps.push_back(&call);
      row.has_looked = false;
    } else if (looks_in_vain(call)) {
      row.has_looked = true;
      row.look = call.name();
    } else if (call.name() == row.look && !row.has_worked) {
      row.has_found = true;
      row.has_worked = true;
    } else if (!is_beside(call)) {
      row.has_worked = true;
    }
  }
  for (auto& [thread, row] : rows) end_sleep_row(row, polled, others);
}

/// The events of a window that say when a server is there.
struct Servers {
  std::vector<double> listens_ns;            ///< When each listen succeeded.
  std::optional<double> first_connected_ns;  ///< When the first connect began that succeeded.
  std::map<std::uint32_t, Calls> by_thread;  ///< All calls.
};

bool connects(const TracedCall& call) {
  return call.name() == "connect" && (!call.failed() || call.call->error() == "EINPROGRESS");
}

Servers servers_of(const TracedWindow& window) {
  Servers servers;
  for (const TracedCall& call : window.calls()) {
    servers.by_thread[call.call->thread].push_back(&call);
    if (call.name() == "listen" && !call.failed()) servers.listens_ns.push_back(call.end_ns());
    if (connects(call) && (!servers.first_connected_ns || call.start_ns() < *servers.first_connected_ns)) {
      servers.first_connected_ns = call.start_ns();
    }
  }
  return servers;
}

/// True if another thread does something between these times that the sleeper may have waited for. Waits that end
/// because their time is over are nothing.
bool others_work(const TracedWindow& window, std::uint32_t sleeper, double from_ns, double to_ns) {
  return std::any_of(window.calls().begin(), window.calls().end(), [&](const TracedCall& call) {
    if (call.call->thread == sleeper || is_sleep(window, call) || looks_in_vain(call) || call.name() == "futex")
      return false;
    return call.start_ns() > from_ns && call.start_ns() < to_ns;
  });
}

/// How much longer the sleep takes than the server needs; nullopt if it is no sleep before a connect.
std::optional<double> needless_ns(const TracedWindow& window, const Servers& servers, const TracedCall& sleep) {
  const double end_ns = sleep.end_ns();
  if (!servers.first_connected_ns || *servers.first_connected_ns < sleep.start_ns()) return std::nullopt;
  // The connect is the next thing for which the thread waits.
  const Calls& calls = servers.by_thread.at(sleep.call->thread);
  const auto next =
      std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(sleep.in_thread) + 1, calls.end(),
                   [&](const TracedCall* call) { return connects(*call) || call->heard > sleep.heard + 1; });
  if (next == calls.end() || !connects(**next) || (*next)->heard != sleep.heard + 1) return std::nullopt;
  std::optional<double> ready_ns;  // the last listen before the end: it may be that server's
  for (const double listen_ns : servers.listens_ns) {
    if (listen_ns < end_ns && (!ready_ns || listen_ns > *ready_ns)) ready_ns = listen_ns;
  }
  if (!ready_ns) return std::nullopt;
  const double from_ns = std::max(*ready_ns, sleep.start_ns());
  const double needless = end_ns - from_ns;
  if (needless < kLongSleepsNs || needless < sleep.took_ns() / 2) return std::nullopt;
  if (others_work(window, sleep.call->thread, from_ns + needless / 2, end_ns)) return std::nullopt;
  return needless;
}

Sleeps sleeps_of(const TracedWindow& window) {
  Sleeps sleeps;
  Calls others;
  split_rows(window, sleeps.polled, others);
  std::optional<Servers> servers;
  for (const TracedCall* call : others) {
    std::optional<double> needless;
    if (call->took_ns() >= kLongSleepsNs) {
      if (!servers) servers = servers_of(window);
      needless = needless_ns(window, *servers, *call);
    }
    if (needless) {
      sleeps.overslept.push_back({call, *needless});
    } else {
      sleeps.others.push_back(call);
    }
  }
  return sleeps;
}

using render::count;

std::string sleeps_text(double calls, std::string_view of, double ns) {
  return fmt::format("{} {}{} take{} {}", count(calls), calls == 1 ? "sleep" : "sleeps", of, calls == 1 ? "s" : "",
                     render::duration(ns));
}

/// Sleeps of threads that sleep at the same time are longer together than the test.
std::string sleeps_text(const Calls& calls, double ns) {
  std::set<std::uint32_t> threads;
  for (const TracedCall* call : calls) threads.insert(call->call->thread);
  const std::string of = threads.size() > 1 ? fmt::format(" of {} threads", threads.size()) : std::string();
  return sleeps_text(static_cast<double>(calls.size()), of, ns);
}

/// Calls by their syscall and line, in the order of these.
std::map<std::pair<std::string_view, std::string>, Calls> by_line(const Calls& calls) {
  std::map<std::pair<std::string_view, std::string>, Calls> lines;
  for (const TracedCall* call : calls) lines[{call->name(), site_of({call})}].push_back(call);
  return lines;
}

}  // namespace

std::vector<Hit> sleep_in_test(const WindowCalls& window) {
  if (window.summary().kind == "process") return {};
  const CallSum sleeps = window.sum(kSleeps);
  if (!sleeps.kernel_ns || *sleeps.kernel_ns < kLongSleepsNs || *sleeps.kernel_ns < kLongSleepNs * sleeps.calls) {
    return {};
  }
  return {{std::string(sleeps.most), window.site_of(kSleeps),
           sleeps_text(sleeps.calls, window.per(), *sleeps.kernel_ns), *sleeps.kernel_ns, true}};
}

std::vector<Hit> sleep_in_test_in_order(const TracedWindow& window) {
  const Sleeps sleeps = sleeps_of(window);
  Calls polled;
  Calls others;
  for (const TracedCall* call : sleeps.polled) {
    if (call->took_ns() >= kLongSleepNs) polled.push_back(call);
  }
  for (const TracedCall* call : sleeps.others) {
    if (call->took_ns() >= kLongSleepNs) others.push_back(call);
  }
  std::vector<Hit> hits;
  for (const auto& [line, calls] : by_line(polled)) {
    const double ns = cost_of(calls);
    if (ns < kLongSleepsNs) continue;
    hits.push_back({std::string(line.first), line.second,
                    sleeps_text(calls, ns) + " in rows, with a look in between that finds nothing", ns});
  }
  for (const Overslept& one : sleeps.overslept) {
    hits.push_back({std::string(one.sleep->name()), site_of({one.sleep}),
                    fmt::format("a sleep before the connect takes {}, {} longer than the server needs to listen",
                                render::duration(one.sleep->took_ns()), render::duration(one.needless_ns)),
                    one.needless_ns});
  }
  for (const auto& [line, calls] : by_line(others)) {
    const double ns = cost_of(calls);
    if (ns < kLongSleepsNs) continue;
    hits.push_back({std::string(line.first), line.second, sleeps_text(calls, ns), ns, true});
  }
  return hits;
}

std::vector<Hit> short_timeouts(const WindowCalls& window) {
  static constexpr std::array<std::string_view, 1> kFutex = {"futex"};
  std::vector<Hit> hits;
  const CallSum sleeps = window.sum(kSleeps);
  if (sleeps.calls >= kManyShortWaits && sleeps.kernel_ns && *sleeps.kernel_ns < kShortWaitNs * sleeps.calls) {
    hits.push_back({std::string(sleeps.most), window.site_of(kSleeps),
                    fmt::format("{} sleeps{} take {} each on average", count(sleeps.calls), window.per(),
                                render::duration(*sleeps.kernel_ns / sleeps.calls)),
                    *sleeps.kernel_ns, true});
  }
  const CallSum waits = window.sum(kFutex);
  const double timed_out = waits.failed_with("ETIMEDOUT");
  if (timed_out >= kManyShortWaits && waits.kernel_ns && *waits.kernel_ns < kShortWaitNs * timed_out) {
    hits.push_back({"futex", window.site_of(kFutex),
                    fmt::format("{} of {} futex{} time out", count(timed_out), count(waits.calls), window.per()),
                    *waits.kernel_ns * timed_out / waits.calls, true});
  }
  return hits;
}

std::vector<Hit> short_timeouts_in_order(const TracedWindow& window) {
  const Sleeps sleeps = sleeps_of(window);
  Calls polled;
  Calls others;
  const auto is_short = [](const TracedCall* call) { return call->took_ns() < kShortWaitNs; };
  std::copy_if(sleeps.polled.begin(), sleeps.polled.end(), std::back_inserter(polled), is_short);
  std::copy_if(sleeps.others.begin(), sleeps.others.end(), std::back_inserter(others), is_short);
  for (const TracedCall& call : window.calls()) {
    if (!is_short(&call) || !call.call->took_ns) continue;
    const bool is_poll = is_one_of(kPolls, call.name()) && call.result == 0 && call.took_ns() > kShortestWaitNs &&
                         !is_sleep(window, call);
    const bool is_wait = call.name() == "futex" && call.call->error() == "ETIMEDOUT";
    if (is_poll || is_wait) others.push_back(&call);
  }
  std::vector<Hit> hits;
  for (const bool is_note : {false, true}) {
    for (const auto& [line, calls] : by_line(is_note ? others : polled)) {
      if (static_cast<double>(calls.size()) < kManyShortWaits) continue;
      const double ns = cost_of(calls);
      const std::string each = render::duration(ns / static_cast<double>(calls.size()));
      hits.push_back({std::string(line.first), line.second,
                      is_note
                          ? fmt::format("{} {} end after {} on average, because their time is over", calls.size(),
                                        line.first, each)
                          : fmt::format("{} sleeps of {} on average in rows, with a look in between that finds nothing",
                                        calls.size(), each),
                      ns, is_note});
    }
  }
  return hits;
}

}  // namespace syscost::bench::findings
