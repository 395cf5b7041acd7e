// SPDX-License-Identifier: MIT
//
// Ids of traces and spans, made of the key of a row.
//
// The same row always has the same id. So a second export of a run sends the same spans again, and no new ones.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace syscost::bench::otlp {

/// `parts` as one text that no other parts have. No part may hold a NUL.
std::string key_of(std::initializer_list<std::string_view> parts);

/// 32 hexadecimal digits: 122 bits of a name-based UUID (SHA-1, RFC 9562) of the run's id.
std::string trace_id_of(std::string_view run_id);

/// 16 hexadecimal digits of such a UUID of a key.
std::string span_id_of(std::string_view key);

}  // namespace syscost::bench::otlp
