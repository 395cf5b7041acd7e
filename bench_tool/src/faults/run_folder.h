// SPDX-License-Identifier: MIT
//
// RunFolder: the folder of one contained run, with its temporary and its working directory.
#pragma once

#include <filesystem>
#include <string>

#include "faults/contained.h"

namespace syscost::bench::faults {

/// Makes `folder`, with a temporary directory in it, and with a working directory if `kind` asks for one. `ours` is the
/// directory in which bench was started. `made` is where the command has to start. Returns what went wrong, or "".
std::string make_working_folder(WorkingFolder kind, const std::filesystem::path& ours,
                                const std::filesystem::path& folder, std::filesystem::path& made);

/// /tmp, or where it leads if it is a link.
std::filesystem::path real_tmp();

/// Removes `folder` with all that is in it, also folders without permissions.
void remove_folder(const std::filesystem::path& folder);

}  // namespace syscost::bench::faults
