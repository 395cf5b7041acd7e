// SPDX-License-Identifier: MIT
#include "stats/summaries.h"

#include <algorithm>
#include <future>
#include <string_view>
#include <thread>

#include "model/incomplete_run.h"

namespace syscost::bench::stats {
namespace {

// Fewer groups than this are done before another thread has started.
constexpr std::size_t kGroupsPerThread = 64;
// Enough for some threads, and not more than their caches hold.
constexpr std::size_t kAtOnce = 128;

}  // namespace

std::vector<WindowSummary> summarize_all(const model::Dataset& data, const std::vector<model::Group>& groups,
                                         bool per_iteration) {
  std::vector<WindowSummary> windows(groups.size());
  auto summarize_range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) windows[i] = summarize(data, groups[i], per_iteration);
  };
  const std::size_t wanted = std::max<std::size_t>(groups.size() / kGroupsPerThread, 1);
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, wanted);
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, summarize_range,
                                groups.size() * i / threads, groups.size() * (i + 1) / threads));
  }
  summarize_range(0, groups.size() / threads);
  for (std::future<void>& other : others) other.get();
  note_threaded_programs(windows);
  note_kernel_files(windows);
  return windows;
}

void note_reordered(const std::set<std::pair<std::string, std::string>>& tests, std::vector<WindowSummary>& windows) {
  for (WindowSummary& window : windows) {
    const std::pair<std::string, std::string> key(window.program, window.test);
    window.is_reordered = tests.contains(key);
    if (window.kind != "suite") continue;
    const auto first = tests.lower_bound({key.first, key.second + '.'});
    window.is_reordered =
        first != tests.end() && first->first == key.first && first->second.starts_with(key.second + '.');
  }
}

void note_unfinished(const model::Dataset& data, std::vector<WindowSummary>& windows) {
  std::set<std::string> programs;
  for (const model::Unfinished& one : model::unfinished_programs(data)) programs.insert(one.program);
  for (WindowSummary& window : windows) {
    window.is_of_unfinished_program = programs.contains(std::string(window.program));
  }
}

void note_kernel_files(std::vector<WindowSummary>& windows) {
  std::set<std::pair<std::string_view, std::string_view>> tests;
  for (const WindowSummary& window : windows) {
    if (window.opens_kernel_files) tests.emplace(window.program, window.test);
  }
  for (WindowSummary& window : windows) {
    window.opens_kernel_files = tests.contains({window.program, window.test});
  }
}

void note_threaded_programs(std::vector<WindowSummary>& windows) {
  std::set<std::string_view> threaded;
  for (const WindowSummary& window : windows) {
    if (window.has_other_threads.value_or(false)) threaded.insert(window.program);
  }
  for (WindowSummary& window : windows) window.is_of_threaded_program = threaded.contains(window.program);
}

void for_each_summary(const model::Dataset& data, const std::vector<model::Group>& groups, bool per_iteration,
                      const std::function<void(std::size_t, WindowSummary&&)>& take) {
  for (std::size_t begin = 0; begin < groups.size(); begin += kAtOnce) {
    const std::size_t end = std::min(groups.size(), begin + kAtOnce);
    const std::vector<model::Group> some(groups.begin() + static_cast<std::ptrdiff_t>(begin),
                                         groups.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<WindowSummary> windows = summarize_all(data, some, per_iteration);
    for (std::size_t i = 0; i < windows.size(); ++i) take(begin + i, std::move(windows[i]));
  }
}

bool is_test_of(const WindowSummary& set_up, const WindowSummary& test) {
  const std::string suite = set_up.kind == "suite" ? std::string(set_up.test) + "." : "";
  return set_up.is_set_up() && test.kind == "test" && test.program == set_up.program && test.test.starts_with(suite);
}

const WindowSummary* without_calls(const WindowSummary& other, const std::vector<WindowSummary>& side,
                                   std::deque<WindowSummary>& made) {
  if (!other.is_set_up() || !other.is_ours()) return nullptr;
  std::size_t n = 0;
  for (const WindowSummary& one : side) {
    if (!one.is_ours() || one.program != other.program || one.filters != other.filters) continue;
    // After void counts perhaps nothing could be counted, and the order of windows is not known here.
    if (one.is_set_up() && !one.is_counted()) return nullptr;
    if (!is_test_of(other, one)) continue;
    if (!one.is_counted() || one.is_lower_bound() || one.is_of_unfinished_program) return nullptr;
    n = std::max(n, one.n);
  }
  if (n == 0) return nullptr;
  const Spread none{n, 0, 0, 0};
  WindowSummary empty;
  empty.name = other.name;
  empty.program = other.program;
  empty.test = other.test;
  empty.kind = other.kind;
  empty.origin = other.origin;
  empty.filters = other.filters;
  empty.n = n;
  empty.outcomes["passed"] = n;
  empty.calls = empty.entries = empty.errors = empty.work_calls = empty.work_errors = none;
  empty.spread_calls = empty.spread_entries = none;
  empty.sync_opens = sync_opens_of(none);
  empty.late = empty.lost = 0;
  return &made.emplace_back(std::move(empty));
}

}  // namespace syscost::bench::stats
