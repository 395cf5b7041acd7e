// SPDX-License-Identifier: MIT
//
// Start times: which run of a file is the newest.
//
// The newest run is what a RUN means, so a text that is no time must not win for coming late in the alphabet.
#pragma once

#include <string_view>

namespace syscost::bench::model {

/// True for `2026-11-21T01:52:31.123Z`, with any number of decimals or none, and for "": the start was not written
/// down.
bool is_time(std::string_view text);

/// Of such a time: what sorts as the times do, also where their decimals differ in number.
std::string_view sortable_time(std::string_view time);

}  // namespace syscost::bench::model
