// SPDX-License-Identifier: MIT
//
// Filter: what --syscost_filter lets a run count.
//
// A backend counts only what the filter selects, so that the other calls cost next to nothing. What was left out was
// not measured, and must never be taken for 0: code that reads a number must check the filter first.
#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/selector.h"
#include "core/syscall_id.h"
#include "os/result.h"

namespace syscost {

/// Immutable, readable from any thread.
class Filter {
 public:
  /// Numbers below this are looked up, those beyond are matched one by one. No table of the kernel's reaches it.
  static constexpr std::uint32_t kNumbers = 1024;

  static Result<std::shared_ptr<const Filter>> parse(std::string_view text);

  /// As given.
  const std::string& text() const { return text_; }
  bool selects(SyscallId id) const;
  /// False when no number from kNumbers on is selected; true when some may be.
  bool may_select_beyond() const { return selector_.may_match_from(kNumbers); }

  /// Of what `wanted` chooses, the syscalls that are not counted: "write", or "read, write, open and 96 more"; empty
  /// when all are. Makes no allocation then, unless `wanted` has a regular expression.
  std::string left_out(const Selector& wanted) const;

 private:
  Filter(std::string_view text, Selector selector);

  std::string text_;
  Selector selector_;
  std::bitset<kAbiCount * kNumbers> selected_;
};

}  // namespace syscost
