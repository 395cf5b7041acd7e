// SPDX-License-Identifier: MIT
#include "extras/where/session/lines.h"

#include <cstdint>
#include <string>
#include <vector>

#include "extras/where/core/call_stack.h"
#include "os/errors.h"
#include "session/process/messages.h"
#include "session/session.h"
#include "syscost/syscost.h"

namespace syscost::session {

Result<void> CallLines::start() {
  if (shared_.options.where.wanted) shared_.recorder.set_call_sites(&shared_.call_sites());
  return {};
}

void CallLines::end_process() {
  const OpenBackend* opened = shared_.backend.current();
  const StackSource* stacks = opened != nullptr ? opened->backend->extension<StackSource>() : nullptr;
  const std::uint64_t calls = stacks != nullptr ? stacks->calls_beyond_limits() : 0;
  if (calls == 0) return;
  say_failure({std::to_string(calls) + (calls == 1 ? " call was" : " calls were") +
                   " counted without a line (--syscost_where): the program has more different call stacks than syscost "
                   "has room for",
               "measure fewer tests in one process (--gtest_filter)"});
}

}  // namespace syscost::session

namespace syscost {

std::vector<CallSite> call_sites(const Cost& cost, std::string_view selector) {
  const KeptErrno kept;
  return cost.available() ? session::process_session().scopes().sites(cost, selector) : std::vector<CallSite>();
}

}  // namespace syscost
