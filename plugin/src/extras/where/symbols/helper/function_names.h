// SPDX-License-Identifier: MIT
//
// The names of functions as people write them, from entries in debug information and from names of a symbol table.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "extras/where/symbols/helper/libdw_api.h"

namespace syscost::symbols {

/// The name of a function with its namespaces and classes, without parameters and return type: `_ZN3Log5batchEi` is
/// `Log::batch`, `main` is `main`. `symbol` is a name of a symbol table or a linkage name.
std::string name_of_symbol(std::string_view symbol);

/// `void store::put<int>(int) const [clone .cold]` is `store::put<int>`. Template arguments longer than 40 bytes become
/// `<...>`. Each lambda is `{lambda}`, because compilers number them in different ways, and so its file and line tell
/// them apart.
std::string without_parameters(std::string_view demangled);

/// The name of a class in debug information, in the same spelling: `<lambda(int)>` is `{lambda}`.
std::string name_of_class(std::string_view name);

/// The names of the functions of one file, from their entries in debug information. Names are remembered, because many
/// calls come from one function.
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
