// SPDX-License-Identifier: MIT
//
// The bytes to write, and where, so that call sites of libc jump to the stub. The plan is made once in a process, from
// the unchanged code of libc, because later that code has our jumps in it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/dispatch/code_pages.h"
#include "backends/dispatch/sites.h"

namespace syscost::dispatch {

/// A site, its trampoline, and the bytes that lead there. A trampoline is mapped within reach of a near jump; it has
/// the displaced instruction, the way back in a register, and a jump to the stub.
struct Patch {
  Site site;
  std::vector<Change> changes;  ///< In order of address: the site's jump, and the bridge.
  bool is_in_place = false;
  bool has_left_bridge = false;  ///< Only its bridge is left, because a thread may be about to jump there.

  /// True if its bridge stays when it is taken away.
  bool leaves_bridge(bool alone) const { return site.bridge != nullptr && !alone && (is_in_place || has_left_bridge); }
};

struct PatchPlan {
  std::string why_not;  ///< Empty = there is a plan.
  std::vector<Patch> patches;
  std::array<unsigned, kRefusals> refused = {};

  /// The pages that it changes.
  Pages pages() const;
};

/// Returns the plan of this process. Its trampolines stay for ever, because a thread may be in one.
PatchPlan& patch_plan();

}  // namespace syscost::dispatch
