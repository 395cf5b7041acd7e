// SPDX-License-Identifier: MIT
//
// The rules of stub/rules.h, from outside of the user's calls.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/dispatch/ability.h"
#include "extras/faults/core/fault_rule.h"
#include "extras/where/dispatch/call_stacks.h"

namespace syscost::dispatch {

class Faults final : public FaultInjector, public Ability {
 public:
  /// `unseen_threads`: how many threads the backend does not see. `of_calls`: the stacks of its calls; null = none.
  Faults(std::function<std::size_t()> unseen_threads, const StackSource* of_calls)
      : unseen_threads_(std::move(unseen_threads)), of_calls_(of_calls) {}
  /// Closes every rule.
  ~Faults() override;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  Result<FaultId> open(const FaultRule& wanted) override;
  std::size_t count_unreached_threads() const override { return unseen_threads_(); }
  FaultCounts counts(FaultId id) const override;
  Result<void> begin_stacks() override;
  const StackSource* stacks() const override { return of_calls_ != nullptr ? of_calls_ : stacks_.get(); }
  std::vector<FaultHit> hits(FaultId id) const override;
  void stop(FaultId id) override;
  void close(FaultId id) override;
  bool answers_brk() const override { return true; }
  bool begins_in_fork_children() const override { return true; }
  Result<void> begin_in_fork_child() override;
  void* begin_own_work() override;
  void end_own_work(void* thread) override;

  void* find(std::string_view name) override {
    if (name == FaultInjector::kExtension) return static_cast<FaultInjector*>(this);
    return name == OwnWorkListener::kExtension ? static_cast<OwnWorkListener*>(this) : nullptr;
  }

 private:
  std::function<std::size_t()> unseen_threads_;
  const StackSource* const of_calls_;
  std::shared_ptr<CallStacks> stacks_;  // of forbidden calls alone
};

MadeAbility make_fault_injector(const AbilityContext& context);

}  // namespace syscost::dispatch
