// SPDX-License-Identifier: MIT
//
// Flags in messages, as the user types them.
//
// A test program that is linked with syscost has `--syscost_backend`, and `bench run` has `--backend`. The parts of
// syscost that write messages do not know which of the two was typed. They name the flag of a linked program, and a
// message goes through as_typed() when it is printed.
#pragma once

#include <string>
#include <string_view>

namespace syscost {

/// From now on flags have no prefix: `bench run` started this process. Keeps the prefix after name_flags_with_prefix().
void name_flags_without_prefix();

/// This program itself got a flag with the prefix.
void name_flags_with_prefix();

/// `text` with `--backend` for `--syscost_backend`, if flags have no prefix.
std::string as_typed(std::string_view text);

}  // namespace syscost
