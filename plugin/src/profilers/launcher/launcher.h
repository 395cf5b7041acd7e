// SPDX-License-Identifier: MIT
//
// Launcher: the launcher's one loop: it starts the tools, waits for them, and sees to it that none outlives the
// measured process.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "profilers/launcher/patience.h"
#include "profilers/launcher/protocol.h"
#include "profilers/launcher/tool.h"

namespace syscost::profilers {

class Launcher {
 public:
  struct Limits {
    std::chrono::milliseconds start;
    std::chrono::milliseconds stop;
  };

  /// `link`: the socket to the measured process. `owner`: a pidfd of it, or -1.
  Launcher(int link, int owner, int signals, std::vector<Tool> tools, Limits limits)
      : link_(link), owner_(owner), signals_(signals), tools_(std::move(tools)), limits_(limits) {}

  /// Runs the tools from start to end. When it returns, no tool runs, except one that sudo started and that cannot be
  /// killed.
  void run();

 private:
  enum class Answer { yes, late, abandoned };

  /// Polls until `is_done`, or until the patience is over. Abandoned: the owner is gone, or the launcher was stopped.
  template <class Condition>
  Answer wait_until(Condition is_done, std::optional<Patience> patience, bool heeds_owner = true);
  std::chrono::nanoseconds cpu_time() const;
  /// Patience that lasts as long as the tools work.
  Patience patient(std::chrono::milliseconds limit) const {
    return {limit, kMostLimits - 1, Patience::Clock::now(), cpu_time()};
  }
  static Patience strict(std::chrono::milliseconds limit) { return {limit, 0, Patience::Clock::now(), {}}; }
  void read_link();
  bool read_signals() const;
  bool start_all();
  void end_all();
  void send_results();
  void send(FrameType type, std::size_t tool, const void* bytes, std::size_t size);
  bool every(bool (Tool::*question)() const) const;

  int link_;
  int owner_;
  int signals_;
  std::vector<Tool> tools_;
  Limits limits_;
  bool was_told_to_stop_ = false;
  bool is_abandoned_ = false;
  bool has_given_up_ = false;  ///< A tool was not ready in time.
};

}  // namespace syscost::profilers
