// SPDX-License-Identifier: MIT
//
// A TracedWindow as one line of text: a counting process sends the output of its tools this way to the process that
// writes rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "session/tools/profiler_session.h"

namespace syscost::session {

/// Control characters may become spaces on the way.
std::string to_text(const TracedWindow& traced);
/// Reads the text of to_text(); none if it is cut or wrong.
std::optional<TracedWindow> traced_from_text(std::string_view text);

}  // namespace syscost::session
