// SPDX-License-Identifier: MIT
//
// Printable: bench's name for what makes a text safe to print. The library's messages use the same functions.
#pragma once

#include "os/printable.h"

namespace syscost::bench::csv {

using syscost::Character;
using syscost::CharacterRange;
using syscost::first_character;
using syscost::holds;
using syscost::is_unseen;
using syscost::printable;
using syscost::printable_lines;

}  // namespace syscost::bench::csv
