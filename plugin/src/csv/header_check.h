// SPDX-License-Identifier: MIT
//
// Is this file one of ours? Appending rows to another version's file, or to a user's notes, would destroy both.
#pragma once

#include <string>
#include <string_view>

#include "os/result.h"

namespace syscost::csv {

struct HeaderState {
  /// What must be appended to make the header whole: all of it for an empty file, the rest of one that a crash tore,
  /// nothing otherwise.
  std::string_view missing;
};

/// Reads the first line of `fd`, called `path` in messages. Fails when it is not our header.
Result<HeaderState> check_header(int fd, const std::string& path);

/// The same for text that was read already: the file's first line with its line break, or all it holds.
Result<HeaderState> check_header_text(std::string_view start, const std::string& path);

}  // namespace syscost::csv
