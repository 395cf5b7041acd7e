// SPDX-License-Identifier: MIT
//
// The side of syscost/counting.h on which tools look on: a counting process that makes its passes for them.
#include <optional>
#include <string>
#include <utility>

#include "session/process_session.h"
#include "session/two_process/cost_access.h"
#include "session/two_process/traced_text.h"
#include "syscost/counting.h"

namespace syscost::adapter {

namespace {

session::Tools& tools() {
  return session::process_session().tools().profilers().tools();
}

std::string backend_name() {
  const session::OpenBackend* opened = session::process_session().backend().current();
  return opened != nullptr ? std::string(opened->backend->name()) : "none";
}

/// Why the last attach_tools() failed. One thread at a time.
std::optional<Failure>& attach_failure() {
  static auto* const failure = new std::optional<Failure>;
  return *failure;
}

}  // namespace

bool wants_tools() {
  const Result<session::ParsedOptions>& parsed = session::process_options();
  return parsed.ok() && parsed.value().options.wants_tools();
}

CountingStart start_tracing(const Framework& framework) {
  CountingStart start;
  session::Session& session = session::started_session(framework);
  start.backend = backend_name();
  Result<void> started = session.tools().start();
  if (!started.ok()) start.why_not = started.failure();
  return start;
}

bool attach_tools() {
  Result<void> attached = tools().attach();
  attach_failure().reset();
  if (!attached.ok()) attach_failure() = attached.failure();
  return attached.ok();
}

void arm_tools() noexcept {
  tools().arm();
}

void disarm_tools() noexcept {
  tools().disarm();
}

std::string detach_tools(std::string_view benchmark, const Cost* counted) {
  session::ProfilerSession& tracer = session::process_session().tools().profilers();
  session::TracedWindow traced;
  session::Findings findings;
  Result<void> detached = tracer.tools().detach(findings);
  if (attach_failure().has_value()) {
    traced.problems.push_back(*std::exchange(attach_failure(), std::nullopt));
  } else if (!detached.ok()) {
    traced.problems.push_back(detached.failure());
  } else {
    const detail::CostData* data = counted != nullptr ? detail::CostAccess::data(*counted) : nullptr;
    const std::string name(benchmark);
    traced =
        tracer.conclude(std::move(findings), {"benchmark " + name, tracer.make_folder({}, name)}, data, backend_name());
  }
  return session::to_text(traced);
}

}  // namespace syscost::adapter
