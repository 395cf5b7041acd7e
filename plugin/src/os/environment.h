// SPDX-License-Identifier: MIT
//
// The environment, and what of it counts in a program that has more rights than its caller.
//
// A test with capabilities of its file (setcap), or a setuid one, runs with rights that its caller lacks, and the
// kernel says so: AT_SECURE. There a variable that leads to code or to a tool is a way to those rights. So syscost
// reads the environment through this file only, and this file knows which variables are harmless (docs/security.md). A
// test holds all other sources against that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/result.h"

namespace syscost {

/// AT_SECURE: the kernel gave this program rights that its caller lacks.
bool has_more_rights_than_caller();

/// True for a variable that gives a caller no more than the caller's own rights. False for an unknown variable.
bool is_harmless_variable(std::string_view name);

/// The variable's value; null where it is not set or, under AT_SECURE, not harmless.
const char* variable(const char* name);

/// NAME=VALUE of all variables; under AT_SECURE of the harmless ones.
std::vector<std::string> variables();

/// The whole environment, for a process that is this program again.
std::vector<std::string> environment_to_pass_on();

/// The user of this program, and its rights on files.
struct FileRights {
  bool is_secure = false;       ///< AT_SECURE
  bool has_other_ids = false;   ///< The user or group that acts is not the caller's.
  std::uint64_t permitted = 0;  ///< Capabilities that it has or may put in force, one bit each.
};

/// Why syscost must not read or write the files that the caller names: the program may do more with files than its
/// caller. Empty where both may do the same.
std::optional<Failure> reason_to_leave_files_alone(const FileRights& rights);
FileRights file_rights();

}  // namespace syscost
