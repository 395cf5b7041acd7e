// SPDX-License-Identifier: MIT
//
// Pieces of SVG that all pictures of bench have in common.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::render {

/// `text`, printable, with what XML reserves written as entities.
std::string xml_text(std::string_view text);

std::string svg_text(double x, double y, std::string_view text, std::string_view attributes = {});

/// The beginning of a picture on a white ground; `</svg>` ends it.
std::string svg_head(double width, double height);

/// Writes the picture as OutputFile does: it replaces a picture or an empty file, and no other. /dev/null is written
/// to. Returns why it could not, or "".
std::string write_picture(const std::string& path, const std::string& svg);

}  // namespace syscost::bench::render
