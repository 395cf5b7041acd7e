// SPDX-License-Identifier: MIT
//
// Start times: which run of a file is the newest.
//
// A RUN means its newest run. So a text that is no time must not win because it sorts last.
#pragma once

#include <string_view>

namespace syscost::bench::model {

/// True for `2026-11-21T01:52:31.123Z`, with any number of decimals or none, and for "": the start was not written
/// down.
bool is_time(std::string_view text);

/// A key for such a time. Keys sort as the times do, even if the numbers of decimals differ.
std::string_view sortable_time(std::string_view time);

}  // namespace syscost::bench::model
