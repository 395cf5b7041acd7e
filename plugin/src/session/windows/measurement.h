// SPDX-License-Identifier: MIT
//
// Measurement: what the windows, scopes, loops and tools of one session share. Slices, a part of it: the stretches of a
// trace that have a name.
//
// A scope on any thread must know whether a window or a loop is open, a loop whether a scope is open, and all of them
// give their rows to one recorder. Each class that works on a Measurement holds a reference to it. The comments say
// which class changes which member.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/cost_data.h"
#include "csv/window_rows.h"
#include "os/memory.h"
#include "os/own_calls.h"
#include "os/spin_lock.h"
#include "session/options/options.h"
#include "session/windows/backend_holder.h"
#include "session/windows/open_window.h"
#include "session/windows/origin_namer.h"
#include "session/windows/recorder.h"
#include "session/windows/scope_records.h"

namespace syscost::session {

/// A stretch of a trace that has a name: a scope or a loop. The window's own is known at its end.
struct Slice {
  Slice(std::string_view its_name, std::pmr::memory_resource& memory) : name(its_name, &memory) {}

  std::pmr::string name;  ///< `scope flush`, `loop flush`
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::shared_ptr<const detail::CostData> cost;  ///< Null for a loop, which is many windows.
};

/// Thread-safe. At most kMost slices wait; the others are only counted. A scope ends inside windows, so nothing here
/// enters the kernel: memory is quiet memory, and the lock spins.
class Slices {
 public:
  static constexpr std::size_t kMost = 10'000;
  struct Waiting {
    std::pmr::list<Slice> all;
    std::uint64_t not_kept = 0;
  };

  explicit Slices(std::pmr::memory_resource& memory) : memory_(memory) {}

  void add(std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns,
           std::shared_ptr<const detail::CostData> cost) {
    const std::lock_guard guard(lock_);
    if (waiting_.size() >= kMost) {
      ++not_kept_;
      return;
    }
    Slice& slice = waiting_.emplace_back(name, memory_);
    slice.start_ns = start_ns;
    slice.end_ns = end_ns;
    slice.cost = std::move(cost);
  }

  Waiting take() {
    const std::lock_guard guard(lock_);
    return {std::exchange(waiting_, std::pmr::list<Slice>(&memory_)), std::exchange(not_kept_, 0)};
  }

 private:
  std::pmr::memory_resource& memory_;
  SpinLock lock_;
  std::pmr::list<Slice> waiting_{&memory_};
  std::uint64_t not_kept_ = 0;
};

struct Measurement {
  Measurement(Options its_options, BackendOpener opener)
      : options(std::move(its_options)),
        backend(std::move(opener), options),
        scopes(quiet_memory()),
        slices(quiet_memory()),
        recorder(scopes) {}

  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Set by the session, at its start.
  Options options;
  csv::RunColumns run;
  std::atomic<bool> is_started{false};
  bool has_framework = false;

  ForkDetector fork_detector;
  /// Set in a fork child of for_each_failure(): its calls can fail, and nothing else is measured there.
  std::optional<ForkDetector> child_with_faults;
  BackendHolder backend;
  ScopeRecords scopes;
  Slices slices;  ///< With a trace only.
  Recorder recorder;
  std::shared_ptr<OriginNamer> origin_namer;  ///< Null until an extra makes it.

  // Set by the windows.
  std::optional<OpenWindow> window;
  std::atomic<bool> has_window{false};
  std::atomic<bool> is_paused{false};  ///< The framework works in the midst of the open window.

  std::atomic<OpenBackend*> between_opened{nullptr};

  // Set by the loops.
  std::atomic<bool> in_loop{false};
  std::atomic<bool> is_backend_detached{false};  ///< For a loop's timed passes. A scope attaches it.
  /// By test, window and loop: the next free number of a repetition.
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> next_repetitions;

  /// Grows when tools are attached and when they are detached; odd while they are attached.
  std::atomic<std::uint64_t> tools_epoch{0};

  /// The backend that counts what happens while no window is open; null = none does, or not any more, because a test
  /// disabled it. If there is one, all that syscost does on any thread is OwnCalls.
  OpenBackend* counts_between() const {
    OpenBackend* const opened = between_opened.load(std::memory_order_acquire);
    const bool counts = opened != nullptr && opened == backend.current() && opened->is_intact.load();
    return counts ? opened : nullptr;
  }

  /// Makes a write that fails. Its text appears in strace's log, so that a program can cut the log there.
  void write_marker(std::string_view text) const {
    if (!options.markers) return;
    // It fails on purpose: there is no descriptor -1.
    [[maybe_unused]] const ssize_t written = write(-1, text.data(), text.size());
  }

  bool is_fork_child() const { return fork_detector.is_fork_child(); }
  /// True where faults are inert.
  bool has_no_faults() const {
    return is_fork_child() && (!child_with_faults.has_value() || child_with_faults->is_fork_child());
  }
  /// True if no window, loop or scope is open on any thread.
  bool is_idle() const {
    return !has_window.load(std::memory_order_acquire) && !in_loop.load() && scopes.open_count() == 0;
  }
  bool prints_lines() const { return options.profile_syscalls || options.wants_tools(); }
  /// In a program without tests, --syscost_profile prints a line for each named scope.
  bool prints_scopes() const { return prints_lines() && !has_framework; }

  /// Reserves `count` numbers of repetitions for the running test's loop `name`, and returns the first one. Earlier
  /// runs of the loop, in this test or in an earlier iteration of --gtest_repeat, have the numbers below.
  std::uint64_t take_repetitions(std::string_view name, std::size_t count) {
    std::tuple<std::string, std::string, std::string> key{"", "", name};
    if (window.has_value()) {
      std::get<0>(key) = window->test;
      std::get<1>(key) = window->name;
    }
    std::uint64_t& next = next_repetitions[std::move(key)];
    return std::exchange(next, next + count);
  }
};

}  // namespace syscost::session
