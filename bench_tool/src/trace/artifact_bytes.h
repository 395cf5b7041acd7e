// SPDX-License-Identifier: MIT
//
// What a file among a test's artifacts holds.
//
// Folders of artifacts come from CI jobs and from other people. A name in them may be a pipe, a device or a link to
// one, and reading that may never end; a file with a hole may claim any size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::trace {

/// No larger file is read into memory. A trace of 65536 events, the default, takes 7 MiB at most.
inline constexpr std::uint64_t kMostArtifactBytes = std::uint64_t{1} << 30;

/// Notes in `problems` why there are none: the file cannot be read, is no regular file, or is too large.
std::optional<std::vector<char>> artifact_bytes(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::trace
