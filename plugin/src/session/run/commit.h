// SPDX-License-Identifier: MIT
//
// The commit under test, for column `commit`.
//
// It comes from the CI system's variables, else from the repository around the working directory. syscost reads the
// repository's files itself, because git may not be installed where tests run. So it does not know whether the tree has
// uncommitted changes.
//
// In a folder that several users share, the repository may be a stranger's, made to show a file of ours in the column.
// So we read a repository only where git would: it belongs to this user, to root, or to who started `sudo`. We are
// stricter in one thing: not everyone can write to it. As for git, its group may. Names in it lead to files below it,
// through no link, and the column gets nothing but a hash.
#pragma once

#include <string>

namespace syscost::session {

struct FoundCommit {
  std::string hash;
  std::string why_not;  ///< `/tmp/.git belongs to another user (id 17)`: why a repository was not read; else "".
};

/// The commit's hash, if there is one.
FoundCommit find_commit();

/// The commit checked out in the repository that holds `folder` (absolute), if there is one.
FoundCommit commit_of_repository(std::string folder);

}  // namespace syscost::session
