// SPDX-License-Identifier: MIT
//
// Measurement: what the windows, scopes, loops and tools of one session share.
//
// A scope on any thread must know whether a window or a loop is open, a loop whether a scope is open, and all of them
// give their rows to one recorder. Each class that works on a Measurement holds a reference to it. The comments say
// which class changes which member.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "csv/run_columns.h"
#include "os/fork_detector.h"
#include "os/quiet_memory.h"
#include "session/options/options.h"
#include "session/where/call_sites.h"
#include "session/windows/backend_holder.h"
#include "session/windows/open_window.h"
#include "session/windows/recorder.h"
#include "session/windows/scope_records.h"
#include "session/windows/slices.h"

namespace syscost::session {

struct Measurement {
  Measurement(Options its_options, BackendOpener opener)
      : options(std::move(its_options)),
        backend(std::move(opener), options),
        scopes(quiet_memory()),
        slices(quiet_memory()),
        recorder(scopes) {}

  /// The sites of calls; made when they are first needed. Call it with the recorder's lock, or in a process with one
  /// thread.
  CallSites& call_sites() {
    if (sites == nullptr) sites = make_call_sites(options.where);
    return *sites;
  }

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
  std::shared_ptr<CallSites> sites;

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
