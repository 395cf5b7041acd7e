// SPDX-License-Identifier: MIT
//
// The table of options: what each is called, and what its value does.
//
// options.cc reads the command line and the environment by it; a new flag is a line here, one in help.cc and one in
// docs/flags.md.
#pragma once

#include <string>
#include <string_view>

#include "session/options/options.h"

namespace syscost::session {

enum class Argument { value, optional_boolean };

struct KnownOption {
  std::string_view name;  ///< --syscost_NAME, SYSCOST_NAME
  Argument argument;
  bool is_flag;  ///< False: environment only.
  /// Takes the value; an error sentence, or "".
  std::string (*take)(Options& options, std::string_view value, Source source);
};

/// Null when there is none of this name.
const KnownOption* find_option(std::string_view name, bool flags_only);
/// The name nearest to `name`; empty when none is near enough to have been meant.
std::string_view nearest_option(std::string_view name, bool flags_only);

}  // namespace syscost::session
