// SPDX-License-Identifier: MIT
//
// The page: sections of HTML become one file that needs nothing else.
//
// The file names no address, so it works offline and tells no one that it is read. A policy (CSP) in its head allows
// the two scripts of bench by their hashes and nothing else: a script that got into the page by a fault of ours does
// not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::report {

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

std::string html_of(const Page& page);

}  // namespace syscost::bench::report
