// SPDX-License-Identifier: MIT
#include "csv/cells.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>

namespace syscost::bench::csv {
namespace {

constexpr char kComma = ',';
constexpr char kQuote = '"';

/// The first byte after the cell that begins at `at`; npos if a quote in it is not closed. A quote may begin anywhere
/// in a cell. Two quotes inside quotes are one.
std::size_t cell_end(std::string_view line, std::size_t at) {
  while (at < line.size() && line[at] != kComma) {
    if (line[at] != kQuote) {
      ++at;
      continue;
    }
    do {
      at = line.find(kQuote, at + 1);
      if (at == std::string_view::npos) return at;
      ++at;
    } while (at < line.size() && line[at] == kQuote);
  }
  return at;
}

void append_unquoted(std::string_view cell, std::string& out) {
  if (cell.size() < 2 || cell.front() != kQuote || cell.back() != kQuote) {
    out += cell;
    return;
  }
  cell = cell.substr(1, cell.size() - 2);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == kQuote && i + 1 < cell.size() && cell[i + 1] == kQuote) ++i;
    out += cell[i];
  }
}

}  // namespace

SplitFault Cells::split(std::string_view line) {
  return find_borders(line, 0, 0);
}

SplitFault Cells::split_after(std::string_view line, std::size_t shared) {
  if (is_quoted()) return split(line);
  return find_borders(line, in_line_[shared], shared);
}

/// Fills in_line_ after `column`, which begins at `from`.
SplitFault Cells::find_borders(std::string_view line, std::size_t from, std::size_t column) {
  base_ = line.data();
  begins_ = in_line_.data();
  in_line_[column] = static_cast<std::uint32_t>(from);
#ifdef __SSE2__
  const __m128i commas = _mm_set1_epi8(kComma);
  const __m128i quotes = _mm_set1_epi8(kQuote);
  for (std::size_t at = from; at < line.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(base_ + at));
    const unsigned mask = line.size() - at < 16 ? (1U << (line.size() - at)) - 1U : 0xFFFFU;
    if ((static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quotes))) & mask) != 0)
      return split_quoted(line);
    unsigned found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, commas))) & mask;
    for (; found != 0; found &= found - 1) {
      in_line_[++column] = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(__builtin_ctz(found)) + 1U;
    }
    if (column >= columns_) return SplitFault::too_many;
  }
#else
  for (std::size_t at = from; at < line.size(); ++at) {
    if (line[at] == kQuote) return split_quoted(line);
    if (line[at] != kComma) continue;
    in_line_[++column] = static_cast<std::uint32_t>(at + 1);
    if (column >= columns_) return SplitFault::too_many;
  }
#endif
  in_line_[column + 1] = static_cast<std::uint32_t>(line.size() + 1);
  return column + 1 == columns_ ? SplitFault::none : SplitFault::too_few;
}

SplitFault Cells::split_quoted(std::string_view line) {
  unquoted_.clear();
  begins_ = in_text_.data();
  std::size_t at = 0;
  for (std::size_t column = 0; column < columns_; ++column) {
    if (column != 0 && at > line.size()) return SplitFault::too_few;
    in_line_[column] = static_cast<std::uint32_t>(at);
    in_text_[column] = static_cast<std::uint32_t>(unquoted_.size());
    const std::size_t end = cell_end(line, at);
    if (end == std::string_view::npos) return SplitFault::open_quote;
    append_unquoted(line.substr(at, end - at), unquoted_);
    unquoted_ += kComma;
    at = end + 1;
  }
  in_line_[columns_] = static_cast<std::uint32_t>(at);
  in_text_[columns_] = static_cast<std::uint32_t>(unquoted_.size());
  base_ = unquoted_.data();
  return at > line.size() ? SplitFault::none : SplitFault::too_many;
}

}  // namespace syscost::bench::csv
