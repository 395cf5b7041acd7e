// SPDX-License-Identifier: MIT
#include <optional>

#include "extras/backend_wishes.h"
#include "extras/where/core/call_stack.h"

namespace syscost::session {
namespace {

std::optional<Failure> refusal_of_stacks(const BackendCandidate& candidate, const Options& /*options*/) {
  const char* why = nullptr;
  if (candidate.choice == BackendChoice::ebpf) {
    why = "in the kernel, a stack of code without frame pointers costs forty times as much";
  }
  if (candidate.choice == BackendChoice::seccomp) why = "it counts in another process, which does not see them";
  if (why == nullptr) return std::nullopt;
  return Failure{"backend " + candidate.name() + " has no call stacks (--syscost_where): " + why,
                 "use --syscost_backend dispatch, which needs no privilege, or leave --syscost_where out"};
}

}  // namespace

constinit const BackendWish kStackWish{
    .is_wanted = [](const Options& options) { return options.where.wanted; },
    .can_fulfil = is_dispatch,
    .refusal = refusal_of_stacks,
    .tell = [](const Options&, BackendRequest& request) { request.add(StackWish{}); },
};

}  // namespace syscost::session
