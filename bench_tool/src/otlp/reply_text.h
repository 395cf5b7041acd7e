// SPDX-License-Identifier: MIT
//
// A receiver's answer to an export: how many items it refused, and why.
#pragma once

#include <cstdint>
#include <string>

#include "otlp/signals.h"

namespace syscost::bench::otlp {

struct Answer {
  bool is_understood = true;   ///< False: a body that no receiver of this protocol sends.
  std::uint64_t rejected = 0;  ///< Spans or data points.
  std::string message;         ///< Printable and cut to a line; may be there if nothing was rejected.
};

/// Reads the body of a reply with a status from 200 to 299.
Answer parse_answer(Signal signal, const std::string& body);

/// The beginning of a refusal's body, printable, on one line: the `message` of a JSON status, or the text.
std::string refusal_text(const std::string& body);

}  // namespace syscost::bench::otlp
