// SPDX-License-Identifier: MIT
//
// PackedCards: the cards of all tests in little room. A browser unpacks those that a person opens.
//
// The cards of five thousand tests are some fifteen megabytes of HTML, most of it the same words. Packed by gzip they
// are a tenth of that, and a browser does not read them before they are asked for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace syscost::bench::report {

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
