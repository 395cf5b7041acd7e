// SPDX-License-Identifier: MIT
//
// Help that fits a terminal of 80 columns: the option parser breaks no lines.
#pragma once

#include <string>

namespace syscost::bench::cli {

/// `help` with no line over 80 columns, but for words that are longer: descriptions go on below where they begin, and
/// paragraphs are filled anew.
std::string fitted_help(const std::string& help);

}  // namespace syscost::bench::cli
