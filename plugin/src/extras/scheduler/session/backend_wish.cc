// SPDX-License-Identifier: MIT
#include <optional>

#include "extras/backend_wishes.h"
#include "extras/scheduler/core/scheduler_trace.h"

namespace syscost::session {
namespace {

std::optional<Failure> refusal_of_events(const BackendCandidate& candidate, const Options& /*options*/) {
  if (candidate.choice == BackendChoice::ebpf) return std::nullopt;
  return Failure{"backend " + candidate.name() + " does not see what the scheduler does (--syscost_sched)",
                 "use --syscost_backend ebpf (--syscost_doctor says what it needs), or leave --syscost_sched out"};
}

}  // namespace

constinit const BackendWish kSchedulerWish{
    .is_wanted = [](const Options& options) { return options.scheduler.wanted; },
    .can_fulfil = [](BackendChoice choice) { return choice == BackendChoice::ebpf; },
    .refusal = refusal_of_events,
    .tell =
        [](const Options& options, BackendRequest& request) {
          request.add(SchedulerWish{static_cast<std::uint32_t>(options.scheduler.events)});
        },
};

}  // namespace syscost::session
