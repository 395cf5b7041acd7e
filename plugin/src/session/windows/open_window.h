// SPDX-License-Identifier: MIT
//
// The window that an adapter has open: a test, a suite's set-up, an environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/open_things.h"
#include "session/windows/backend_holder.h"
#include "session/windows/usage.h"
#include "syscost/adapter.h"

namespace syscost::session {

struct OpenWindow {
  adapter::Kind kind{};
  std::string test;
  std::string name;
  int repetition = 0;
  std::thread::id owner = std::this_thread::get_id();
  /// The window of a command that runs below this process, instead of a test's (session/outside.h).
  bool is_command = false;
  /// For a command: the window has the calls of this program only; other programs have rows of their own. Empty: it has
  /// the calls of all programs.
  std::string own_program;
  std::string starter;  ///< For a command: the program of this process. The command's process began as it.
  Usage usage_before;
  // With --syscost_leaks:
  std::optional<OpenThings> open_before;
  std::optional<std::uint64_t> most_mapped;  ///< Bytes, after its calls (Backend::end_mapped_peak()).
  std::uint64_t opened_ns = 0;               ///< On the monotonic clock.
  std::uint64_t start_ns = 0;  ///< opened_ns, moved on by each pause: the window's own time is what is left to its end.
  // The loops inside, which are not part of the window.
  std::string excluded;  // "excludes loop flush"
  std::vector<std::string> loop_lines;
  std::uint64_t loop_start_ns = 0;
  Usage loop_usage;
  OpenBackend* opened = nullptr;
  WindowBook::Window* book_window = nullptr;
  std::uint64_t hidden_losses_before = 0;  ///< OpenBackend::hidden_losses() of `opened` when the window opened.
  // Tools beside us.
  bool is_traced = false;      ///< A tool is or was attached: the window has no times.
  bool is_trace_whole = true;  ///< It was attached in all stretches of the window.
  std::string folder;          ///< For the tools' files; empty until it is needed.
};

}  // namespace syscost::session
