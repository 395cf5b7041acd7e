// SPDX-License-Identifier: MIT
//
// Journal: from the calls of a body to operations on inodes and directory entries.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/file_calls.h"
#include "crash/image.h"
#include "crash/image_files.h"
#include "crash/operation.h"
#include "os/result.h"

namespace syscost::crash {

struct Recording {
  Image initial;  ///< With the inodes that the operations make.
  std::vector<Operation> log;
};

/// `calls`: all of the body. `line_of(stack)`: the line that made the call, or nothing. Fails if a call did something
/// that the model lacks.
Result<Recording> make_recording(Snapshot before, std::span<const FileCall> calls,
                                 const std::function<std::string(std::uint32_t)>& line_of);

}  // namespace syscost::crash
