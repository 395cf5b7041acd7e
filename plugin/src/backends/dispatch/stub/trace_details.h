// SPDX-License-Identifier: MIT
//
// Finds what an ioctl of a trace was made on: a request has a name only with its device.
//
// The stub asks the kernel for the device (fstat) after the call, and copies the command in the request's argument
// where a rule says that there is one. Another thread may have closed the descriptor meanwhile: then the event has no
// device. These calls are none that the program makes, so they are made only if no seccomp filter is there
// (trace_strings.h).
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/trace_buffer.h"

namespace syscost::signal_safe {

/// RequestRule of core/call_detail.h.
struct DetailRule {
  static constexpr std::uint16_t kNowhere = 0xffff;

  std::uint32_t device;
  std::uint32_t device_mask;
  std::uint32_t request;
  std::uint32_t request_mask;
  std::uint16_t command_at;
  std::uint16_t status_at;
};

/// Set between windows.
struct DetailRules {
  static constexpr std::uint32_t kMost = 32;

  std::uint32_t count;
  DetailRule rule[kMost];
};

/// Writes the detail of an ioctl that has returned into `unit`. Returns the number of units that it takes: 0 if the
/// descriptor is no device, or if nothing may be asked.
std::uint32_t put_detail(TraceUnit& unit, const Call& call);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::DetailRules syscost_detail_rules;
}
// NOLINTEND(readability-identifier-naming)
