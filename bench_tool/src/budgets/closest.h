// SPDX-License-Identifier: MIT
//
// Closest: which word was meant by one that is none.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace syscost::bench::budgets {

/// ` - did you mean max-growth?` where one of `words` is at most two letters (or a third of the word) away; else "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

}  // namespace syscost::bench::budgets
