// SPDX-License-Identifier: MIT
//
// EntryNames: the names of functions, from their entries in debug information.
#pragma once

#include <map>
#include <string>

#include "symbols/helper/libdw_api.h"

namespace syscost::symbols {

/// Of one file. Names are remembered, because many calls come from one function.
class EntryNames {
 public:
  explicit EntryNames(const LibdwApi& dw) : dw_(dw) {}

  /// With its namespaces and classes, without parameters. `symbol` is the symbol table's name of the code, if the
  /// function is not inlined; it is the answer if `die` has no name.
  std::string name_of(Dwarf_Die& die, const std::string& symbol);

 private:
  std::string scoped_name(Dwarf_Die die, int depth);

  const LibdwApi& dw_;
  std::map<Dwarf_Off, std::string> names_;  // by the offset of a function's declaration
};

}  // namespace syscost::symbols
