// SPDX-License-Identifier: MIT
//
// The rules of stub/faults.h, from outside of the user's calls.
#pragma once

#include <vector>

#include "core/fault_rule.h"

namespace syscost::dispatch {

class Faults final : public FaultInjector {
 public:
  Faults() = default;
  /// Closes every rule.
  ~Faults() override;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  Result<FaultId> open(const FaultRule& rule) override;
  FaultCounts counts(FaultId rule) const override;
  std::vector<FaultHit> hits(FaultId rule) const override;
  void close(FaultId rule) override;
  void* begin_own_work() override;
  void end_own_work(void* thread) override;
};

}  // namespace syscost::dispatch
