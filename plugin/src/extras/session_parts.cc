// SPDX-License-Identifier: MIT
//
// The extras of a session. A room that is not there leaves its part out.
#include <memory>
#include <utility>
#include <vector>

#include "session/part.h"

#if __has_include("extras/profilers/session/tracing.h")
#include "extras/profilers/session/tracing.h"
#define SYSCOST_HAS_TOOLS 1
#endif
#if __has_include("extras/leaks/session/leaks.h")
#include "extras/leaks/session/leaks.h"
#define SYSCOST_HAS_LEAKS 1
#endif
#if __has_include("extras/trace/session/traces.h")
#include "extras/trace/session/traces.h"
#define SYSCOST_HAS_TRACE 1
#endif
#if __has_include("extras/faults/session/faults.h")
#include "extras/faults/session/faults.h"
#define SYSCOST_HAS_FAULTS 1
#endif
#if __has_include("extras/crash/session/power_cuts.h")
#include "extras/crash/session/power_cuts.h"
#define SYSCOST_HAS_CRASH 1
#endif
#if __has_include("extras/where/session/lines.h")
#include "extras/where/session/lines.h"
#define SYSCOST_HAS_WHERE 1
#endif

namespace syscost::session {

Parts make_parts(const PartContext& context) {
  Parts parts;
#if SYSCOST_HAS_WHERE
  parts.push_back(std::make_unique<Lines>(context.shared));
#endif
#if SYSCOST_HAS_TOOLS
  parts.push_back(std::make_unique<Tracing>(context.shared));
#endif
#if SYSCOST_HAS_LEAKS
  parts.push_back(std::make_unique<Leaks>(context.shared));
#endif
#if SYSCOST_HAS_TRACE
  parts.push_back(std::make_unique<Traces>(context.shared));
#endif
#if SYSCOST_HAS_FAULTS
  parts.push_back(std::make_unique<Faults>(context.shared, context.attach_backend));
#endif
#if SYSCOST_HAS_CRASH
  parts.push_back(std::make_unique<PowerCuts>(context.shared, context.attach_backend));
#endif
  return parts;
}

}  // namespace syscost::session
