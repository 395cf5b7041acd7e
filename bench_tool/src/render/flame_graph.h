// SPDX-License-Identifier: MIT
//
// A flame graph: how many calls come from which functions. A box is as wide as the calls below it are many.
//
// flamegraph.pl draws the same and is in no Debian package (main); the file that it reads is the same, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::render {

/// Calls with one stack, from the outermost frame to the innermost.
struct FoldedStack {
  std::vector<std::string> frames;
  std::uint64_t calls = 0;
};

/// `main;Log::batch;write src/log.cc:17 100`; nullopt if a line is something else.
std::optional<FoldedStack> parse_folded(std::string_view line);

/// The picture; stacks with the same beginning share its boxes. Each box says its calls when the mouse is over it.
/// Boxes that are too narrow to be seen are not drawn.
std::string flame_svg(std::string_view title, const std::vector<FoldedStack>& stacks);

}  // namespace syscost::bench::render
