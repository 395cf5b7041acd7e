// SPDX-License-Identifier: MIT
//
// WindowTrace: the files of --syscost_trace, --syscost_where and --syscost_sched, as a window sees them. session/trace
// implements the interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/cost_data.h"
#include "session/windows/backend_holder.h"
#include "session/windows/open_window.h"

namespace syscost::session {

class WindowTrace {
 public:
  virtual ~WindowTrace() = default;

  /// Call it before a window opens.
  virtual void prepare(const OpenWindow& window) = 0;
  /// Writes the files of a window that was closed, and forgets its events. `cost` still has all calls of the window;
  /// null if its counts are void. Makes syscalls: between windows. The caller holds Recorder's lock.
  virtual void conclude(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                        const std::shared_ptr<const detail::CostData>& cost) = 0;
  /// Writes the call stacks of a window that was closed, if the run has a folder for them. `cost` has the calls of the
  /// window's rows. As conclude().
  virtual void write_stacks(OpenWindow& window, const detail::CostData& cost) = 0;
  /// The same of a loop or a scope, in a folder `KIND NAME` of its test's folder.
  virtual void write_stacks(std::string_view kind, std::string_view test, std::string_view name,
                            const detail::CostData& cost) = 0;
};

/// Column `detail` of a window with calls that have no event: `trace lost 12`, after `before`.
inline std::string with_trace_lost(std::string before, const detail::CostData* cost) {
  if (cost == nullptr || cost->trace_lost() == 0) return before;
  return (before.empty() ? "" : before + "; ") + "trace lost " + std::to_string(cost->trace_lost());
}

}  // namespace syscost::session
