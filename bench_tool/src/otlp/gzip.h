// SPDX-License-Identifier: MIT
//
// Packing by gzip, for the bodies of requests.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::otlp {

/// Throws std::bad_alloc if there is no memory.
std::string gzip(std::string_view text);

}  // namespace syscost::bench::otlp
