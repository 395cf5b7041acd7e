// SPDX-License-Identifier: MIT
//
// The name of a function as people write it: namespaces and classes, no parameters, no return type.
#pragma once

#include <string>
#include <string_view>

namespace syscost::symbols {

/// `_ZN3Log5batchEi` is `Log::batch`, `main` is `main`. `symbol` is a name of a symbol table or a linkage name.
std::string name_of_symbol(std::string_view symbol);

/// `void store::put<int>(int) const [clone .cold]` is `store::put<int>`. Template arguments longer than 40 bytes become
/// `<...>`. Each lambda is `{lambda}`, because compilers number them in different ways, and so its file and line tell
/// them apart.
std::string without_parameters(std::string_view demangled);

/// The name of a class in debug information, in the same spelling: `<lambda(int)>` is `{lambda}`.
std::string name_of_class(std::string_view name);

}  // namespace syscost::symbols
