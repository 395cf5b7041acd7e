// SPDX-License-Identifier: MIT
//
// Trials: the states of a recording, one by one as files for a check.
#pragma once

#include <cstddef>
#include <string>

#include "crash/journal.h"
#include "crash/model.h"
#include "crash/states.h"
#include "os/result.h"
#include "syscost/crash.h"

namespace syscost::crash {

/// Fails for options that make no sense.
Result<void> check_options(const CrashOptions& options);

class Trials {
 public:
  Trials(Recording recording, const CrashOptions& options);

  std::size_t size() const { return states_.states.size(); }
  /// What the check hears of a state; `path`: where make() has put it.
  CrashPoint point(std::size_t index, const std::string& path) const;
  /// Makes the state's files in `path`, which is not there yet.
  Result<void> make_files(std::size_t index, const std::string& path) const;
  /// What the report says whatever the checks say.
  CrashReport report() const;

 private:
  Recording recording_;
  Plan plan_;
  States states_;
};

}  // namespace syscost::crash
