// SPDX-License-Identifier: MIT
//
// Markdown: text out of a file that must not become markup.
//
// `BM_Fill<int>/8` is a name and not a tag, `x:1*2*3` is not in italics, and a name in a file must not put a
// link or a picture into a pull request.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::render {

/// A name, letter by letter: `` `BM_Fill<int>/8` ``. Fit for a cell of a table. Expects printable text.
std::string code_span(std::string_view name);

/// Text that reads as it stands: what could begin markup or a link is escaped. Expects printable text without line
/// feeds. Other text must come before it on its line.
std::string escaped_markdown(std::string_view text);

/// The same for lines, each of which ends with a line feed.
std::string escaped_lines(std::string_view lines);

/// Lines as they are, between two fences.
std::string code_block(std::string_view lines);

}  // namespace syscost::bench::render
