// SPDX-License-Identifier: MIT
//
// svg: pictures as SVG: the pieces that all pictures have in common, and flame graphs. A text out of a file must not
// become markup, here and in other XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::render {

/// Fit for an attribute in double quotes and for text. Characters that XML 1.0 cannot hold (controls, bytes that are
/// not UTF-8) become U+FFFD; line feeds and tabs are kept in attributes, too.
std::string escaped_xml(std::string_view text);

/// `text`, printable, with what XML reserves written as entities.
std::string xml_text(std::string_view text);

std::string svg_text(double x, double y, std::string_view text, std::string_view attributes = {});

/// The beginning of a picture on a white ground; `</svg>` ends it.
std::string svg_head(double width, double height);

/// Writes the picture as OutputFile does: it replaces a picture or an empty file, and no other. /dev/null is written
/// to. Returns why it could not, or "".
std::string write_picture(const std::string& path, const std::string& svg);

/// Calls with one stack, from the outermost frame to the innermost.
struct FoldedStack {
  std::vector<std::string> frames;
  std::uint64_t calls = 0;
};

/// `main;Log::batch;write src/log.cc:17 100`; nullopt if a line is something else.
std::optional<FoldedStack> parse_folded(std::string_view line);

/// A flame graph: how many calls come from which functions. A box is as wide as the calls below it are many. Stacks
/// with the same beginning share its boxes. Each box says its calls when the mouse is over it. Boxes that are too
/// narrow to be seen are not drawn.
///
/// flamegraph.pl draws the same and is in no Debian package (main); the file that it reads is the same, too.
std::string flame_svg(std::string_view title, const std::vector<FoldedStack>& stacks);

}  // namespace syscost::bench::render
