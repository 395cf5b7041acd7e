// SPDX-License-Identifier: MIT
//
// The list of the parts that extras add to a session.
#include <memory>

#include "extras/crash/session/power_cuts.h"
#include "extras/faults/session/faults.h"
#include "extras/leaks/session/leaks.h"
#include "extras/profilers/session/tracing.h"
#include "extras/scheduler/session/scheduler_files.h"
#include "extras/trace/session/traces.h"
#include "extras/where/session/lines.h"
#include "session/part.h"

namespace syscost::session {

Parts make_parts(const PartContext& context) {
  Parts parts;
  parts.push_back(std::make_unique<Tracing>(context.shared));
  parts.push_back(std::make_unique<Leaks>(context.shared));
  parts.push_back(std::make_unique<Traces>(context.shared));
  parts.push_back(std::make_unique<SchedulerFiles>(context.shared));
  parts.push_back(std::make_unique<CallLines>(context.shared));
  parts.push_back(std::make_unique<Faults>(context.shared, context.attach_backend));
  parts.push_back(std::make_unique<PowerCuts>(context.shared, context.attach_backend));
  return parts;
}

}  // namespace syscost::session
