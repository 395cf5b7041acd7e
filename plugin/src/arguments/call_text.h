// SPDX-License-Identifier: MIT
//
// A call of a trace as people read it, in the words of strace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extras/trace/core/call_trace.h"

namespace syscost {

struct ArgumentText {
  std::string_view name;  ///< As the kernel calls it; empty if it is not known.
  std::string text;
};

/// The arguments that the call reads: `open` without O_CREAT has no mode. One that the trace lacks is `?`.
std::vector<ArgumentText> argument_texts(const CallEvent& event);

/// `3`, `0x7f1200000000`, `-1 ENOENT (No such file or directory)`; `?` for a call that never comes back.
std::string result_text(const CallEvent& event);

/// A string between quotes, with escapes for what is not printable; `...` follows one that was cut.
std::string quoted(std::string_view text, bool is_cut);

}  // namespace syscost
