// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/cost_data.h"
#include "os/errors.h"
#include "session/process/messages.h"

namespace syscost::session {

/// Finds the sites of calls that have origins (core/extensions.h). Not thread-safe: the caller holds the lock of the
/// rows. Makes syscalls: between windows only.
class OriginNamer {
 public:
  virtual ~OriginNamer() = default;
  OriginNamer(const OriginNamer&) = delete;
  OriginNamer& operator=(const OriginNamer&) = delete;

  /// Adds `cost` to `into`, with the number of a site in the place of each origin. Calls of one site are added up.
  virtual void name_origins(const detail::CostData& cost, detail::CostData& into) = 0;
  /// The failures to look something up since the last time, each once.
  virtual std::vector<Failure> take_failures() = 0;

 protected:
  OriginNamer() = default;
};

/// Says failures. Where there is no namer, the calls of all origins are added up.
inline void name_origins(OriginNamer* namer, const detail::CostData& cost, detail::CostData& into) {
  if (namer != nullptr) {
    namer->name_origins(cost, into);
    for (const Failure& failure : namer->take_failures()) say_failure(failure);
    return;
  }
  for (const auto& [id, tally] : cost.table) {
    SyscallId without = id;
    without.detail.origin = 0;
    into.table.at(without).merge(tally);
  }
  into.programs.merge(cost.programs);
  into.measured = cost.measured;
  into.filter = cost.filter;
  into.late = cost.late;
  into.lost = cost.lost;
}

}  // namespace syscost::session
