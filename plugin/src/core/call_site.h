// SPDX-License-Identifier: MIT
//
// Call sites: the texts that rows have for the places from which calls came.
//
// Several call stacks are one line for people: a function that is called from two places makes its calls at one line.
// Between windows, the stacks of a window's calls become sites, and sites are numbered over the whole process. So
// tables of sites can be added up, whichever backend or process they come from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace syscost {

/// The number of the site with this text, at least 1; equal texts have equal numbers. Empty text: 0. Thread-safe; keeps
/// the text in quiet memory: between windows only.
std::uint32_t number_of_site(std::string_view text);

/// The text of a site that has a number; empty for other numbers. Valid for ever. Thread-safe.
std::string_view text_of_site(std::uint32_t site);

}  // namespace syscost
