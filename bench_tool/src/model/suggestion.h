// SPDX-License-Identifier: MIT
//
// Suggestions: what was meant by a name that there is not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::model {

/// Up to `most` of `names` that are near to `wanted`, the nearest first: those that hold it, and those that a few
/// typing errors are apart. Case and wildcards do not count.
std::vector<std::string> suggestions(std::string_view wanted, const std::vector<std::string>& names,
                                     std::size_t most = 3);

/// `did you mean A, B or C?`, without a line feed; "" where nothing is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

/// The same as the end of a message: `; did you mean A?`, or "".
std::string or_rather(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace syscost::bench::model
