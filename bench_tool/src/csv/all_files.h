// SPDX-License-Identifier: MIT
//
// Several RUNs of the command line, read as one.
#pragma once

#include <string>
#include <vector>

#include "csv/find_files.h"
#include "csv/problems.h"

namespace syscost::bench::csv {

/// Adds the files of all `names` to `all`. True if one of them is a folder.
bool add_files(Run& all, const std::vector<std::string>& names, Folders folders, Problems& problems);

}  // namespace syscost::bench::csv
