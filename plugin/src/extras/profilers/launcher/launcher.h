// SPDX-License-Identifier: MIT
//
// Launcher: the launcher's one loop: it starts the tools, waits for them as long as they work, and sees to it that none
// outlives the measured process.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "extras/profilers/launcher/protocol.h"
#include "extras/profilers/launcher/tool.h"

namespace syscost::profilers {

/// The launcher waits for tools as long as they work.
///
/// A limit in seconds alone does not distinguish a tool that hangs from one that gets a hundredth of the time on a
/// loaded machine. The CPU time of the tools does: if they used none, the limit is over, else it begins again. The
/// number of renewals is limited, because a tool may run in an endless loop.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// `used`: the CPU time of all running tools. With `renewals` 0 the limit ends even if they work.
  Patience(std::chrono::milliseconds limit, int renewals, Clock::time_point now, std::chrono::nanoseconds used)
      : limit_(limit), renewals_(renewals), until_(now + limit), used_(used) {}

  /// Call is_renewed() at this time.
  Clock::time_point until() const { return until_; }

  /// True if the tools worked since the limit began. Then it begins again, with another until().
  bool is_renewed(Clock::time_point now, std::chrono::nanoseconds used) {
    if (used == used_ || renewals_ == 0) return false;
    --renewals_;
    used_ = used;
    until_ = now + limit_;
    return true;
  }

 private:
  std::chrono::milliseconds limit_;
  int renewals_;
  Clock::time_point until_;
  std::chrono::nanoseconds used_;
};

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
