// SPDX-License-Identifier: MIT
//
// The page: pieces of HTML become one file that needs nothing else.
//
// Names of tests, paths and details come from files that anyone may have written. They reach the page through text()
// alone, between tags or in an attribute with double quotes; never in a script, a style or an address. The file names
// no address, so it works offline and tells no one that it is read. The cards of all tests are packed, and a browser
// unpacks those that a person opens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::report {

/// `raw` for a place between tags or in an attribute with double quotes. Characters that cannot be seen are escaped as
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

/// Each report begins with it; a file that does not is not overwritten.
inline constexpr std::string_view kPageBeginning = "<!DOCTYPE html>\n<html lang=\"en\" data-from=\"syscost-report\">";

struct Section {
  std::string id;     ///< A word; the address within the page.
  std::string title;  ///< Text.
  std::string html;
  bool is_static_only = false;  ///< For readers without JavaScript.
};

struct Page {
  std::string title;                     ///< Text.
  std::vector<std::string> below_title;  ///< Texts.
  std::vector<Section> sections;         ///< Those without HTML are left out.
  std::string data;                      ///< HTML at the end that is not seen.
};

/// The page as a file. A policy (CSP) in its head allows the two scripts of bench by their hashes and nothing else: a
/// script that got into the page by a fault of ours does not run.
std::string html_of(const Page& page);

/// The cards of all tests in little room.
///
/// The cards of five thousand tests are some fifteen megabytes of HTML, most of it the same words. Packed by gzip they
/// are a tenth of that, and a browser does not read them before they are asked for.
class PackedCards {
 public:
  /// Adds the next card; returns its place: `p3.17`, the pack and the index in it.
  std::string add(const std::string& card);
  /// The packs as elements of the page. No more cards can be added.
  std::string html();

 private:
  void close();

  std::string open_;  ///< The cards of the pack that is not full.
  std::size_t in_open_ = 0;
  std::size_t packs_ = 0;
  std::string html_;
};

}  // namespace syscost::bench::report
