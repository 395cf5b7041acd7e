// SPDX-License-Identifier: MIT
//
// Names: each distinct text once.
//
// A million rows hold some thousand distinct texts (test names, syscalls, errno lists). Rows keep a number for each, so
// that memory follows the samples and comparing two names is comparing two integers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "model/id_index.h"

namespace syscost::bench::model {

using NameId = std::uint32_t;
/// The id of the empty text.
inline constexpr NameId kNoName = 0;

class Names {
 public:
  Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  NameId intern(std::string_view text);
  /// Makes every text printable; ids stay. Two texts that look alike then keep their own ids.
  void make_printable();
  const std::string& text(NameId id) const { return texts_[id]; }
  /// Number of ids given out.
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque: texts stay where they are, so that views into them stay valid
  IdIndex ids_;
};

}  // namespace syscost::bench::model
