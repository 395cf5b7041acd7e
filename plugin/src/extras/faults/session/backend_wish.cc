// SPDX-License-Identifier: MIT
#include <atomic>
#include <optional>

#include "extras/backend_wishes.h"
#include "extras/faults/core/fault_rule.h"
#include "extras/faults/options/fault_rules.h"
#include "extras/faults/session/faults.h"

#if SYSCOST_HAS_SECCOMP
#include "extras/faults/seccomp/fault_injector.h"
#endif

namespace syscost::session {
namespace {

std::atomic<bool> g_expects_faults{false};

#if SYSCOST_HAS_SECCOMP
/// Another process answers the calls, so not every fault is possible.
std::optional<Failure> seccomp_refusal(const Options& options) {
  for (const InjectRequest& one : options.inject) {
    FaultRule rule = one.rule;
    Result<void> possible = find_numbers(one.selector, rule, /*is_brk_refused=*/true);
    if (possible.ok()) possible = seccomp::check_fault(rule);
    if (!possible.ok())
      return Failure{"--syscost_inject " + one.text + ": " + possible.failure().reason, possible.failure().how_to_fix};
  }
  return std::nullopt;
}
#endif

std::optional<Failure> refusal_of_faults(const BackendCandidate& candidate, [[maybe_unused]] const Options& options) {
  if (candidate.choice == BackendChoice::ebpf) {
    return Failure{
        "backend ebpf only counts calls, and cannot make one fail (--syscost_inject) or forbid it "
        "(--syscost_forbid)",
        "use --syscost_backend dispatch or seccomp, which need no privilege, or leave these out"};
  }
#if SYSCOST_HAS_SECCOMP
  if (candidate.choice == BackendChoice::seccomp) return seccomp_refusal(options);
#endif
  return std::nullopt;
}

}  // namespace

void expect_faults() {
  g_expects_faults.store(true);
}

constinit const BackendWish kFaultWish{
    .is_wanted = [](const Options& options) { return options.wants_faults(); },
    .can_fulfil = [](BackendChoice choice) { return choice != BackendChoice::ebpf; },
    .purpose = "make calls fail",
    .refusal = refusal_of_faults,
    // A call that fails need not be one that is counted.
    .tell = [](const Options&, BackendRequest& request) { request.add(UnselectedCallsWish{}); },
    .is_expected = [] { return g_expects_faults.load(); },
};

}  // namespace syscost::session
