// SPDX-License-Identifier: MIT
//
// CallTrace: the calls of a backend one by one, where --syscost_trace asks for them.
//
// A call of a window either has an event here, or is counted as unkept because there was no room (core/extensions.h):
// events + unkept calls = calls, in every window.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/extensions.h"
#include "core/segments_held.h"
#include "core/syscall_id.h"

namespace syscost {

/// One call that was counted.
struct CallEvent {
  /// A string that the kernel has read.
  struct Text {
    unsigned argument = 0;
    std::string text;
    bool is_cut = false;  ///< It is longer.
  };

  SyscallId id;                ///< With the stack by which it is counted, and with what an ioctl was made on.
  std::uint32_t thread = 0;    ///< The kernel's id.
  std::uint64_t start_ns = 0;  ///< CLOCK_MONOTONIC.
  std::optional<std::uint64_t> latency_ns;  ///< Empty for a call that never comes back: rt_sigreturn.
  std::int64_t result = 0;                  ///< -errno for a failure; 0 without a latency.
  bool has_arguments = false;
  std::array<std::uint64_t, 6> arguments = {};
  std::vector<Text> texts;
  Generation entered_in = 0;
  Lane lane = Lane::kProcess;  ///< On which it entered.
  Generation returned_in = 0;
  Lane returned_lane = Lane::kProcess;

  bool is_of(const SegmentsHeld& window) const {
    return window.holds(entered_in, lane) && window.holds(returned_in, returned_lane);
  }
};

/// Receives events; an interface, as CrossingSink.
class CallEventSink {
 public:
  virtual void add(const CallEvent& event) = 0;

 protected:
  ~CallEventSink() = default;
};

/// The purpose of a trace.
struct CallTraceRequest {
  static constexpr std::string_view kWish = "trace of calls";  ///< In a BackendRequest.

  std::uint64_t events = 0;        ///< About so many have room; 0 = no trace.
  std::vector<RequestRule> rules;  ///< Where ioctls say more.
};

class CallTrace : public CallKeeper {
 public:
  static constexpr std::string_view kExtension = "trace of calls";  ///< Backend::extension()

  /// Delivers all events in the order of their starts. Only while paused.
  virtual void deliver(CallEventSink& sink) = 0;
  /// Forgets all events, and keeps new ones. Only while paused.
  virtual void restart() = 0;
};

}  // namespace syscost
