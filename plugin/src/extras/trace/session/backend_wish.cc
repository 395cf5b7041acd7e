// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>

#include "extras/backend_wishes.h"
#include "extras/trace/core/call_trace.h"

#if SYSCOST_HAS_GPU_IOCTL
#include "extras/gpu/ioctl/drivers.h"
#endif

namespace syscost::session {
namespace {

std::optional<Failure> refusal_of_traces(const BackendCandidate& candidate, const Options& /*options*/) {
  const char* why = nullptr;
  if (candidate.choice == BackendChoice::ebpf) why = "in the kernel, an event costs seven times as much";
  if (candidate.choice == BackendChoice::seccomp) why = "it sees that a call begins, and not its result";
  if (why == nullptr) return std::nullopt;
  return Failure{"backend " + candidate.name() + " does not keep each call (--syscost_trace): " + why,
                 "use --syscost_backend dispatch, which needs no privilege, or leave --syscost_trace out"};
}

void tell_of_traces(const Options& options, BackendRequest& request) {
  DetailRequest details;
#if SYSCOST_HAS_GPU_IOCTL
  gpu::add_knowledge(details);
#endif
  request.add(CallTraceRequest{options.trace.events, std::move(details.rules)});
}

}  // namespace

constinit const BackendWish kTraceWish{
    .is_wanted = [](const Options& options) { return options.trace.wanted && options.trace.events > 0; },
    .can_fulfil = is_dispatch,
    .refusal = refusal_of_traces,
    .tell = tell_of_traces,
};

}  // namespace syscost::session
