// SPDX-License-Identifier: MIT
//
// ProgramReader: the calls of other programs, apart from the process's own: of its child processes, or of the
// programs of a command.
#pragma once

#include <string_view>

#include "core/tally.h"

namespace syscost {

class ProgramReader {
 public:
  static constexpr std::string_view kExtension = "programs";  ///< Backend::extension()

  virtual ~ProgramReader() = default;
  ProgramReader(const ProgramReader&) = delete;
  ProgramReader& operator=(const ProgramReader&) = delete;

  /// Adds the calls that other programs entered in the process lane's previous segment to `into`, and clears them. Call
  /// it after each Backend::read(Lane::kProcess), if capabilities().programs.
  virtual void read_programs(ProgramTables& into) = 0;

 protected:
  ProgramReader() = default;
};

}  // namespace syscost
