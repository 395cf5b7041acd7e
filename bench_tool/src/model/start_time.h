// SPDX-License-Identifier: MIT
//
// Start times: which run of a file is the newest, and when it began.
//
// A RUN means its newest run. So a text that is no time must not win because it sorts last.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace syscost::bench::model {

/// True for `2026-11-21T01:52:31.123Z`, with any number of decimals or none, and for "": the start was not written
/// down.
bool is_time(std::string_view text);

/// A key for such a time. Keys sort as the times do, even if the numbers of decimals differ.
std::string_view sortable_time(std::string_view time);

/// Nanoseconds from 1970 to `time`, UTC; nullopt if it is no time, or none from 1970 to 2261. Google Benchmark writes
/// `+02:00` in the place of `Z`.
std::optional<std::uint64_t> unix_ns(std::string_view time);

}  // namespace syscost::bench::model
