// SPDX-License-Identifier: MIT
//
// Printable: text out of a file, safe to print on a terminal.
//
// Test names, hosts and paths come from whoever wrote the file. A control byte among them could recolour a terminal,
// rewrite lines above or hide what is wrong, so people see `\x1b` in its place. Formats for machines escape on their
// own.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::csv {

/// `text` with its control characters (C0, DEL and UTF-8's C1) as `\x1b`; everything else stays.
std::string printable(std::string_view text);

}  // namespace syscost::bench::csv
