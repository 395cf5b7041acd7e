// SPDX-License-Identifier: MIT
//
// The bytes of a window by the kind of file they came from or went to (--syscost_detail file).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace syscost::bench::commands {

/// What the calls of one row moved.
struct MovedBytes {
  std::string_view name;  ///< `read pipe`, `sendfile file to socket`
  double bytes = 0;
};

/// `read 4240 bytes (4.14 KiB): 4096 bytes (4.00 KiB) file, 144 bytes socket; written 8 bytes: 8 bytes pipe`. What was
/// read from no file, or from one of unknown kind, is among them. "" where no row has a kind.
std::string bytes_by_kind(std::span<const MovedBytes> rows);

}  // namespace syscost::bench::commands
