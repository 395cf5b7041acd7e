// SPDX-License-Identifier: MIT
//
// The commit that is being tested, for column `commit`.
//
// Asked of the CI system's variables first, then of the repository around the working directory, read directly: git may
// not be installed where tests run. Whether the tree has uncommitted changes is not known this way and not guessed.
#pragma once

#include <string>

namespace syscost::session {

/// The commit's hash, or empty.
std::string find_commit();

/// The commit checked out in the repository that holds `folder` (absolute), or empty.
std::string commit_of_repository(std::string folder);

}  // namespace syscost::session
