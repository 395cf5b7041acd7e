// SPDX-License-Identifier: MIT
//
// The rules of stub/faults.h, from outside of the user's calls.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/dispatch/ability.h"
#include "extras/where/dispatch/call_stacks.h"
#include "extras/faults/core/fault_rule.h"

namespace syscost::dispatch {

class Faults final : public FaultInjector, public Ability {
 public:
  /// `unseen_threads`: how many threads the backend does not see.
  explicit Faults(std::function<std::size_t()> unseen_threads)
      : unseen_threads_(std::move(unseen_threads)), stacks_(CallStacks::running()) {}
  /// Closes every rule.
  ~Faults() override;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  Result<FaultId> open(const FaultRule& rule) override;
  std::size_t count_unreached_threads() const override { return unseen_threads_(); }
  FaultCounts counts(FaultId rule) const override;
  Result<void> begin_stacks() override;
  const StackSource* stacks() const override { return stacks_.get(); }
  std::vector<FaultHit> hits(FaultId rule) const override;
  void stop(FaultId rule) override;
  void close(FaultId rule) override;
  bool answers_brk() const override { return true; }
  bool begins_in_fork_children() const override { return true; }
  Result<void> begin_in_fork_child() override;
  void* begin_own_work() override;
  void end_own_work(void* thread) override;

  void* find(std::string_view name) override {
    return name == kExtension ? static_cast<FaultInjector*>(this) : nullptr;
  }

 private:
  std::function<std::size_t()> unseen_threads_;
  std::shared_ptr<CallStacks> stacks_;  // those of the backend, if it has some
};

}  // namespace syscost::dispatch
