// SPDX-License-Identifier: MIT
//
// CallLines: the lines of calls in rows, with --syscost_where.
#pragma once

#include <string_view>

#include "session/part.h"

namespace syscost::session {

class CallLines final : public Part {
 public:
  static constexpr std::string_view kPart = "lines";

  explicit CallLines(Measurement& shared) : shared_(shared) {}

  std::string_view name() const override { return kPart; }
  Result<void> start() override;
  /// Says how many calls have no line.
  void end_process() override;

 private:
  Measurement& shared_;
};

}  // namespace syscost::session
