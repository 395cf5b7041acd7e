// SPDX-License-Identifier: MIT
//
// CUPTI as a profiler of a window: --syscost_profile cupti.
//
// It runs inside this process, with threads, memory and ioctls of its own. They cannot be told apart from the test's.
// So a run with it counts no syscalls and times nothing (session/options/options.cc); it is a pass of its own.
#pragma once

#include <memory>
#include <string>

#include "extras/profilers/profiler.h"
#include "os/errors.h"

namespace syscost::gpu::cupti {

/// `library`: SYSCOST_CUPTI, or "" to look for one. Fails with cause and fix when there is none that serves.
Result<std::unique_ptr<profilers::Profiler>> make_profiler(const std::string& library);

}  // namespace syscost::gpu::cupti
