// SPDX-License-Identifier: MIT
//
// The window that an adapter has open: a test, a suite's set-up, an environment.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

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
  Usage usage_before;
  std::uint64_t start_ns = 0;
  // Of the loops inside, which are not the window's.
  std::string excluded;  // "excludes loop flush"
  std::vector<std::string> loop_lines;
  std::uint64_t loop_start_ns = 0;
  Usage loop_usage;
  OpenBackend* opened = nullptr;
  WindowBook::Window* handle = nullptr;
  std::uint64_t hidden_losses_before = 0;  ///< Those of `opened` that were known when the window opened.
  // Of tools beside us.
  bool is_traced = false;      ///< One is, or was, attached: the window has no times.
  bool is_trace_whole = true;  ///< It was attached in all stretches.
  std::string folder;          ///< For what they found; empty until it is needed.
};

}  // namespace syscost::session
