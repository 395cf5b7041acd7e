// SPDX-License-Identifier: MIT
//
// Rows of kind `gpu_kernel`: what a tool, or a GPU kernel's stamps (decision 0017), timed on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "csv/window_rows.h"
#include "profilers/profiler.h"
#include "session/windows/recorder.h"

namespace syscost::session {

/// The first of `count` repetitions of a row's window.
using TakeRepetitions = std::function<std::uint64_t(const std::string& window, std::size_t count)>;

/// Adds the rows of `times` to `recorder`. `traced` has the columns of the window that they were taken in; a loop's
/// name comes before the names of its times.
void add_gpu_kernel_rows(Recorder& recorder, const csv::WindowColumns& traced,
                         const std::vector<profilers::TimeFigure>& times, const TakeRepetitions& take_repetitions);

}  // namespace syscost::session
