// SPDX-License-Identifier: MIT
//
// The end of a recording: do its operations make the files that are there?
#pragma once

#include <span>
#include <string>

#include "crash/image.h"
#include "crash/journal.h"
#include "os/result.h"

namespace syscost::crash {

/// Fails if the files are not what the operations make of them: something else has changed them. What files with a name
/// of `may_differ` (`*` = any letters) hold is not looked at. Takes the permission bits over.
Result<void> check_end(Recording& recording, const Image& after, std::span<const std::string> may_differ);

}  // namespace syscost::crash
