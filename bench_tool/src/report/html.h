// SPDX-License-Identifier: MIT
//
// HTML of a report: text that must not become markup, and the small pieces that all parts use.
//
// Names of tests, paths and details come from files that anyone may have written. They reach the page through text()
// alone, between tags or in an attribute with double quotes; never in a script, a style or an address.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stats/window_summary.h"

namespace syscost::bench::report {

/// `raw` for a place between tags or in an attribute with double quotes. What cannot be seen is escaped as
/// csv::printable() does.
std::string text(std::string_view raw);

/// `1.23 us` or `n/a`.
std::string time_text(const std::optional<double>& ns);
/// `1024` or `n/a`.
std::string count_text(const std::optional<double>& number);

/// `<td class="n">...</td>` with `content`, which is HTML.
std::string number_cell(std::string_view content);

/// A tile of a list of figures; `below` may be empty. All three are texts.
std::string figure(std::string_view title, std::string_view value, std::string_view below);

/// A bar that is `share` (0 to 1) full.
std::string share_bar(double share);

/// Base64 (RFC 4648, section 4).
std::string base64(std::string_view bytes);

}  // namespace syscost::bench::report
