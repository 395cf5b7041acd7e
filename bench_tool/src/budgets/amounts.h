// SPDX-License-Identifier: MIT
//
// Amounts as people write them in a file of budgets: `100 ms`, `64 KiB`, `10%`. Nothing = the text is no such amount.
#pragma once

#include <optional>
#include <string_view>

namespace syscost::bench::budgets {

/// In ns.
std::optional<double> parse_time_ns(std::string_view text);
/// `64 KiB`, `1.5 MiB`, `100 bytes`.
std::optional<double> parse_bytes(std::string_view text);
/// `10%` is 0.1.
std::optional<double> parse_share(std::string_view text);

}  // namespace syscost::bench::budgets
