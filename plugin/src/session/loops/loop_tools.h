// SPDX-License-Identifier: MIT
//
// LoopTools: tools beside us that observe one more pass of each loop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cost_data.h"
#include "csv/window_rows.h"

namespace syscost::session {

class LoopTools {
 public:
  virtual ~LoopTools() = default;
  LoopTools(const LoopTools&) = delete;
  LoopTools& operator=(const LoopTools&) = delete;

  /// True when the run has tools.
  virtual bool has_tools() const = 0;
  /// They run inside this process, so that no pass without them is of use.
  virtual bool run_inside() const = 0;
  virtual bool are_attached() const = 0;

  /// Attaches them. False, with a message, if that fails.
  virtual bool begin_pass(std::string_view loop) = 0;
  /// Their counting begins and ends here. No syscall.
  virtual void arm_pass() noexcept = 0;
  virtual void disarm_pass() noexcept = 0;
  /// Stops them, and keeps what they found. False, with a message, if they have no output.
  virtual bool end_pass() = 0;
  /// Writes files and rows of the last pass; returns the lines for people. `counted` is null if nothing counted.
  virtual std::vector<std::string> conclude_pass(csv::WindowColumns columns, const detail::CostData* counted) = 0;

 protected:
  LoopTools() = default;
};

}  // namespace syscost::session
