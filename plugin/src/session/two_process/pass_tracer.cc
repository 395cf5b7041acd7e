// SPDX-License-Identifier: MIT
#include "session/two_process/pass_tracer.h"

#include <utility>

#include "core/cost_access.h"
#include "session/two_process/traced_text.h"

namespace syscost::session {

std::string backend_name(const Session& session) {
  const OpenBackend* opened = session.backend().current();
  return opened != nullptr ? std::string(opened->backend->name()) : "none";
}

bool PassTracer::attach() {
  const Result<void> attached = profilers().tools().attach();
  attach_failure_ = attached.ok() ? std::nullopt : std::optional(attached.failure());
  return attached.ok();
}

std::string PassTracer::detach(std::string_view benchmark, const Cost* counted) {
  TracedWindow traced;
  Findings findings;
  const Result<void> detached = profilers().tools().detach(findings);
  if (attach_failure_.has_value()) {
    traced.problems.push_back(*std::exchange(attach_failure_, std::nullopt));
  } else if (!detached.ok()) {
    traced.problems.push_back(detached.failure());
  } else {
    const detail::CostData* data = counted != nullptr ? detail::CostAccess::data(*counted) : nullptr;
    const std::string name(benchmark);
    traced = profilers().conclude(std::move(findings), {"benchmark " + name, profilers().make_folder({}, name)}, data,
                                  backend_name(session_));
  }
  return to_text(traced);
}

}  // namespace syscost::session
