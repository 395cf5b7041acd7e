// SPDX-License-Identifier: MIT
//
// The rules of fault_book.h, from the side of the measured process.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backends/seccomp/ability.h"
#include "backends/seccomp/shared.h"
#include "extras/faults/core/fault_rule.h"
#include "extras/faults/seccomp/fault_book.h"
#include "os/errors.h"
#include "os/own_calls.h"
#include "os/spin_lock.h"

namespace syscost::seccomp {

/// Fails if calls cannot fail as the rule says, because another process answers them.
Result<void> check_fault(const FaultRule& rule);

class Faults final : public FaultInjector, public Ability {
 public:
  /// Both must outlive it.
  Faults(Shared& shared, const ForkDetector& fork_detector);
  /// Closes every rule.
  ~Faults() override;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  void* find(std::string_view name) override {
    if (name == FaultInjector::kExtension) return static_cast<FaultInjector*>(this);
    return name == OwnWorkListener::kExtension ? static_cast<OwnWorkListener*>(this) : nullptr;
  }
  Result<FaultId> open(const FaultRule& wanted) override;
  FaultCounts counts(FaultId id) const override;
  std::vector<FaultHit> hits(FaultId id) const override;
  void close(FaultId id) override;
  void* begin_own_work() override;
  void end_own_work(void* thread) override;

 private:
  Result<void> check_here(const FaultRule& rule);
  const BookedRule* rule_of(FaultId id) const;

  Shared& shared_;
  FaultBook& book_;
  SpinLock lock_;
  bool knows_descriptors_ = false;
  // A fork child has no book: each function asks first.
  const ForkDetector& fork_detector_;
};

/// AbilityMaker.
std::unique_ptr<Ability> make_faults(Shared& shared, const ForkDetector& fork_detector);

}  // namespace syscost::seccomp
