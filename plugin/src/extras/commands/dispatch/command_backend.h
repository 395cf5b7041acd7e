// SPDX-License-Identifier: MIT
//
// dispatch from inside a command: `bench run` uses it for a command that it measures as a whole, if it may not use
// ebpf. Each program of the command counts itself, into memory that this process makes and reads (stub/command.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "os/errors.h"

namespace syscost::dispatch {

/// Tries dispatch in a forked child, and makes the memory. Counts what `filter` selects (null = everything; it must
/// outlive the backend). `name`: column `backend`. All calls are those of children.
Result<std::unique_ptr<Backend>> open_command_backend(std::string_view name, const Filter* filter = nullptr);

}  // namespace syscost::dispatch
