// SPDX-License-Identifier: MIT
#include "report/packed_cards.h"

#include <fmt/format.h>

#include "render/gzip.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

/// Larger packs are smaller in sum, and slower to open.
constexpr std::size_t kCardsOfPack = 64;
/// Between cards, as page.js has it. No card can hold it: text() escapes control characters.
constexpr char kSeparator = '\x1e';

}  // namespace

std::string PackedCards::add(const std::string& card) {
  if (in_open_ == kCardsOfPack) close();
  if (in_open_ != 0) open_ += kSeparator;
  open_ += card;
  return fmt::format("p{}.{}", packs_, in_open_++);
}

std::string PackedCards::html() {
  if (in_open_ != 0) close();
  return html_;
}

void PackedCards::close() {
  html_ += fmt::format("<script type=\"text/plain\" id=\"p{}\">{}</script>\n", packs_, base64(render::gzip(open_)));
  ++packs_;
  in_open_ = 0;
  open_.clear();
}

}  // namespace syscost::bench::report
