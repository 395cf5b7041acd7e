// SPDX-License-Identifier: MIT
//
// XML: text out of a file that must not become markup.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::render {

/// Fit for an attribute in double quotes and for text. What XML 1.0 cannot hold (controls, bytes that are not UTF-8) is
/// U+FFFD; line feeds and tabs are kept in attributes, too.
std::string escaped_xml(std::string_view text);

}  // namespace syscost::bench::render
