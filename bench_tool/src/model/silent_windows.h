// SPDX-License-Identifier: MIT
//
// Silent windows: a set-up or tear-down without a call has no row. A process that has none, beside others that have
// some, made 0 calls in it.
#pragma once

#include <cstdint>
#include <map>

#include "model/dataset.h"

namespace syscost::bench::model {

/// The suites of which processes ran tests.
class SuitesThatRan {
 public:
  /// Notes a test's row, also one that is left out of the dataset. `is_counted`: it has the number of calls.
  void note(Dataset& data, const Sample& key, bool is_counted);

  /// Adds a sample with 0 calls for each set-up and tear-down of which a process has no row and others of its program
  /// have some. The process must have counted all tests of the suite (of an environment: all) and each set-up, and
  /// ended as it should.
  void add_silent_windows(Dataset& data) const;

 private:
  struct Tests {
    std::uint32_t context;
    bool are_counted;
  };
  using Suites = std::map<NameId, Tests>;

  std::map<ProgramKey, Suites> processes_;
  std::map<ProgramKey, Suites>::iterator last_ = processes_.end();
  NameId last_test_ = kNoName;
  NameId suite_ = kNoName;  ///< Of last_test_.
};

}  // namespace syscost::bench::model
