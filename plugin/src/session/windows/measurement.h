// SPDX-License-Identifier: MIT
//
// Measurement: what the windows, scopes, loops and tools of one session share.
//
// A scope on any thread asks whether a window or a loop is open, a loop asks whether a scope is, and all of them bring
// rows to one recorder. Each class that works on this holds a reference to it, and changes what its comment says.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "csv/run_columns.h"
#include "os/child_guard.h"
#include "os/quiet_memory.h"
#include "session/options/options.h"
#include "session/windows/backend_holder.h"
#include "session/windows/open_window.h"
#include "session/windows/recorder.h"
#include "session/windows/scope_records.h"

namespace syscost::session {

struct Measurement {
  Measurement(Options its_options, BackendOpener opener)
      : options(std::move(its_options)), backend(std::move(opener), options.filter), scopes(quiet_memory()) {}
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Set by the session, at its start.
  Options options;
  csv::RunColumns run;
  std::atomic<bool> is_started{false};
  bool has_framework = false;

  ChildGuard guard;
  BackendHolder backend;
  Recorder recorder;
  ScopeRecords scopes;

  // Set by the windows.
  std::optional<OpenWindow> window;
  std::atomic<bool> has_window{false};

  // Set by the loops.
  std::atomic<bool> in_loop{false};
  std::atomic<bool> is_backend_detached{false};  ///< For a loop's timed passes. A scope attaches it.
  /// By test, window and loop: the first repetition of the next run.
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> next_repetitions;

  std::atomic<std::uint64_t> tracing{0};  ///< Grows when tools come and go; odd while they are attached.

  bool is_fork_child() const { return guard.is_child(); }
  /// True when no window of ours is open on any thread.
  bool is_idle() const {
    return !has_window.load(std::memory_order_acquire) && !in_loop.load() && scopes.open_count() == 0;
  }
  bool prints_lines() const { return options.profile_syscalls || options.wants_tools(); }
  /// In a program without tests, --syscost_profile prints a line for each named scope.
  bool prints_scopes() const { return prints_lines() && !has_framework; }

  /// The first of `count` repetitions of the running test's loop `name`: those of earlier runs of it, in this test or
  /// in an earlier iteration of --gtest_repeat, have the numbers before.
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
