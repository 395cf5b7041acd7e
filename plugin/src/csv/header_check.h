// SPDX-License-Identifier: MIT
//
// Checks that a file is a CSV of this version: rows appended to another version's file, or to a user's notes, would
// damage both.
#pragma once

#include <string>
#include <string_view>

#include "os/result.h"

namespace syscost::csv {

struct HeaderState {
  /// The text that completes the header: all of it for an empty file, the rest if a crash tore it, else nothing.
  std::string_view missing;
};

/// Reads the first line of `fd`, called `path` in messages. Fails if it is not our header.
Result<HeaderState> check_header(int fd, const std::string& path);

/// The same for text that was read already: the file's first line with its line break, or the whole file.
Result<HeaderState> check_header_text(std::string_view start, const std::string& path);

}  // namespace syscost::csv
