// SPDX-License-Identifier: MIT
//
// Sites: the places in the program from which calls came, and their texts in rows. Sites are numbered over the whole
// process, so tables of them can be added up, whichever backend or process they come from.
#pragma once

#include <cstdint>
#include <string_view>

namespace syscost {

/// The number of the site with this text, at least 1; equal texts have equal numbers. Empty text: 0. Thread-safe; keeps
/// the text in quiet memory: between windows only.
std::uint32_t number_of_site(std::string_view text);

/// The text of a site that has a number; empty for other numbers. Valid for ever. Thread-safe.
std::string_view text_of_site(std::uint32_t site);

}  // namespace syscost
