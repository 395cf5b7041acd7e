// SPDX-License-Identifier: MIT
//
// A size cap for Markdown: GitHub refuses a comment of more than 65 536 characters and a step summary of more than 1
// MiB, and then shows nothing at all.
#pragma once

#include <cstddef>
#include <string>

namespace syscost::bench::render {

/// `text`, if it is not longer than `most` bytes. Else its first lines, with what they leave open closed (<details>, a
/// fence), and a line that says how much is left out. Never longer than `most`, if `most` is at least 1000.
std::string capped_markdown(std::string text, std::size_t most);

}  // namespace syscost::bench::render
