// SPDX-License-Identifier: MIT
//
// A TracedWindow as one line of text: how what tools saw in a process of its own reaches the process that writes it
// down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "session/tools/profiler_session.h"

namespace syscost::session {

/// Control characters of it may become spaces on the way.
std::string to_text(const TracedWindow& traced);
/// Empty when the text is none.
std::optional<TracedWindow> traced_from_text(std::string_view text);

}  // namespace syscost::session
