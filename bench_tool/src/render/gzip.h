// SPDX-License-Identifier: MIT
//
// Packing by gzip: the bodies of requests, and the parts of a report that are read later.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::render {

/// Throws std::bad_alloc if there is no memory.
std::string gzip(std::string_view text);

}  // namespace syscost::bench::render
