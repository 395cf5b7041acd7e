// SPDX-License-Identifier: MIT
//
// CallLines: the lines of calls in rows, with --syscost_where.
#pragma once

#include <string_view>
#include <vector>

#include "session/part.h"
#include "syscost/cost.h"
#include "syscost/syscost.h"

namespace syscost::session {

class CallLines final : public Part {
 public:
  static constexpr std::string_view kPart = "lines";

  explicit CallLines(Measurement& shared) : shared_(shared) {}

  std::string_view name() const override { return kPart; }
  Result<void> start() override;
  /// As syscost::call_sites(), of a cost that is available. Any thread; makes syscalls, which are not counted.
  std::vector<CallSite> sites(const Cost& cost, std::string_view selector);
  /// Says how many calls have no line.
  void end_process() override;

 private:
  Measurement& shared_;
};

}  // namespace syscost::session
