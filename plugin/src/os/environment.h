// SPDX-License-Identifier: MIT
//
// The environment, and the variables that a program may use if it has more rights than its caller.
//
// A test with capabilities of its file (setcap), or a setuid one, runs with rights that its caller lacks; the kernel
// then sets AT_SECURE. A variable that names code or a tool would give the caller these rights. So syscost reads the
// environment through this file only, which has a list of harmless variables (docs/security.md). A test checks that no
// other source reads the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost {

/// AT_SECURE: the kernel gave this program rights that its caller lacks.
bool has_more_rights_than_caller();

/// True for a variable that gives a caller no more than the caller's own rights. False for an unknown variable.
bool is_harmless_variable(std::string_view name);

/// The variable's value; null if it is not set, or if it is not harmless under AT_SECURE.
const char* variable(const char* name);

/// NAME=VALUE of all variables; under AT_SECURE only of the harmless ones.
std::vector<std::string> variables();

/// The name of the program's file, without its folders, as it was started; empty if it has none.
const char* program_name();

/// The whole environment, for a process that runs this program again.
std::vector<std::string> environment_to_pass_on();

/// The user of this program, and its rights on files.
struct FileRights {
  bool is_secure = false;       ///< AT_SECURE
  bool has_other_ids = false;   ///< Its effective user or group is not the caller's.
  std::uint64_t permitted = 0;  ///< Capabilities that it has or may enable, one bit each.
};

/// Why syscost must not read or write the files that the caller names: the program has more rights on files than its
/// caller. Empty if both have the same rights.
std::optional<Failure> reason_to_leave_files_alone(const FileRights& rights);
FileRights file_rights();

}  // namespace syscost
