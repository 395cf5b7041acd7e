// SPDX-License-Identifier: MIT
#include "findings/sleep_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "findings/sleeps.h"
#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using render::count;
using Calls = std::vector<const TracedCall*>;

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
