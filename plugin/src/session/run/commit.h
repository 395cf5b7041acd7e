// SPDX-License-Identifier: MIT
//
// The commit under test, for column `commit`.
//
// It comes from the CI system's variables, else from the repository around the working directory. syscost reads the
// repository's files itself, because git may not be installed where tests run. So it does not know whether the tree has
// uncommitted changes.
#pragma once

#include <string>

namespace syscost::session {

/// The commit's hash, or empty.
std::string find_commit();

/// The commit checked out in the repository that holds `folder` (absolute), or empty.
std::string commit_of_repository(std::string folder);

}  // namespace syscost::session
