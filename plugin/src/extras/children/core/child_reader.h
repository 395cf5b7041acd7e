// SPDX-License-Identifier: MIT
//
// ChildReader: the calls of child processes, apart from the process's own.
#pragma once

#include <string_view>

#include "core/tally.h"

namespace syscost {

class ChildReader {
 public:
  static constexpr std::string_view kExtension = "children";  ///< Backend::extension()

  virtual ~ChildReader() = default;
  ChildReader(const ChildReader&) = delete;
  ChildReader& operator=(const ChildReader&) = delete;

  /// Adds the calls that children entered in the process lane's previous segment to `into`, and clears them. Call it
  /// after each Backend::read(Lane::kProcess), if capabilities().children.
  virtual void read_children(ChildTables& into) = 0;

 protected:
  ChildReader() = default;
};

}  // namespace syscost
