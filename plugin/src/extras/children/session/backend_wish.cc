// SPDX-License-Identifier: MIT
#include <optional>

#include "extras/backend_wishes.h"

namespace syscost::session {
namespace {

std::optional<Failure> refusal_of_children(const BackendCandidate& candidate, const Options& /*options*/) {
  if (candidate.choice == BackendChoice::ebpf || candidate.choice == BackendChoice::seccomp) return std::nullopt;
  // Dispatch ends at fork: a child runs without the handler that counts.
  return Failure{"backend " + candidate.name() + " does not count child processes (--syscost_children)",
                 "use --syscost_backend ebpf or --syscost_backend seccomp, or leave --syscost_children out"};
}

}  // namespace

constinit const BackendWish kChildrenWish{
    .is_wanted = [](const Options& options) { return options.children; },
    .refusal = refusal_of_children,
    .tell = [](const Options&, BackendRequest& request) { request.add(OtherProgramsWish{}); },
};

}  // namespace syscost::session
