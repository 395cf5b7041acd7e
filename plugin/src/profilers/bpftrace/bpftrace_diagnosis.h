// SPDX-License-Identifier: MIT
//
// Why bpftrace did not do as asked: from its words to cause and fix.
#pragma once

#include <string>
#include <string_view>

#include "os/confinement.h"
#include "os/result.h"
#include "profilers/launcher/launcher_link.h"

namespace syscost::profilers {

/// The lowest version that is proven (Debian 12's).
inline constexpr int kLeastMajor = 0;
inline constexpr int kLeastMinor = 17;

/// Fails for a version below the proven one, and for what is no version. `printed`: what --version printed.
Result<void> judge_version(std::string_view printed, const std::string& path);

/// What cannot work for lack of rights or of tracefs, found without starting bpftrace. `has_tracefs`: of this process,
/// which is bpftrace's.
Result<void> judge_surroundings(const Confinement& here, bool has_tracefs, bool uses_sudo);

/// False inside a container's PID namespace, say.
bool is_in_initial_pid_namespace();

/// For a bpftrace that numbers processes as its own PID namespace does. Fails for a script that compares its numbers
/// with the scheduler's, which are those of the initial one: it would see nothing and say nothing.
Result<void> judge_in_pid_namespace(const std::string& script, std::string_view source);

/// Of a script that was not attached, or ended before it was told to, or with an error.
Failure explain_failure(const CommandResult& result, const std::string& script, const std::string& script_path,
                        bool uses_sudo);

/// What it printed on standard error, without what says nothing: that it may not raise RLIMIT_MEMLOCK, which kernels
/// since 5.11 do not need, and that a variable of ours has a new name.
std::string worthwhile_errors(std::string_view errors);

}  // namespace syscost::profilers
