// SPDX-License-Identifier: MIT
//
// Finds cause and fix of a failure of bpftrace, from its messages and from the machine.
#pragma once

#include <string>
#include <string_view>

#include "extras/profilers/launcher/launcher_link.h"
#include "os/confinement.h"
#include "os/errors.h"

namespace syscost::profilers {

/// The lowest version that was tested (Debian 12's).
inline constexpr int kLeastMajor = 0;
inline constexpr int kLeastMinor = 17;

/// Fails for a version below the tested one, and for text that is no version. `printed`: the output of --version.
Result<void> judge_version(std::string_view printed, const std::string& path);

/// Fails if rights or tracefs are missing. It does not start bpftrace. `has_tracefs`: this process sees tracefs, and so
/// does bpftrace.
Result<void> judge_surroundings(const Confinement& here, bool has_tracefs, bool uses_sudo);

/// False for example inside a container's PID namespace.
bool is_in_initial_pid_namespace();

/// For a bpftrace that uses the process numbers of its own PID namespace. Fails for a script that compares them with
/// the scheduler's numbers, which are those of the initial namespace: the script would silently see nothing.
Result<void> judge_in_pid_namespace(const std::string& script, std::string_view source);

/// Explains why a script was not attached, ended too early, or ended with an error.
Failure explain_failure(const CommandResult& result, const std::string& script, const std::string& script_path,
                        bool uses_sudo);

/// Returns its standard error without two messages that do not matter: that it may not raise RLIMIT_MEMLOCK, which
/// kernels since 5.11 do not need, and that a variable of ours has a new name.
std::string worthwhile_errors(std::string_view errors);

}  // namespace syscost::profilers
