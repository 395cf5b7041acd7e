// SPDX-License-Identifier: MIT
//
// Text width: how many columns of a terminal a text takes, and what to do about one that takes too many.
//
// Bytes are not columns: a CJK character takes two, a combining accent none, a colour code none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace syscost::bench::render {

/// Columns that UTF-8 `text` takes. Colour codes (Paint's) take none.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns (at least 4): the middle gives way to `...`, for names differ at both ends.
std::string shortened_middle(std::string_view text, std::size_t width);
/// The same at the end. A colour code that was open is closed.
std::string shortened_end(std::string_view text, std::size_t width);

/// Breaks each line of `text` that is wider than `width` at blanks; what follows is indented by `indent` more than the
/// line. `width` 0: nothing is broken. A word that is wider stays whole.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace syscost::bench::render
