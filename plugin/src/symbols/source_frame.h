// SPDX-License-Identifier: MIT
//
// SourceFrame: one function in a call stack, as its source has it. Functions that the compiler inlined are frames too.
//
// The memory is passed in, because the process that measures takes it from its quiet memory: what a test finds in the
// heap must not depend on how many names syscost keeps.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

namespace syscost::symbols {

/// An address to look up.
struct Address {
  std::uint64_t offset = 0;  ///< As in the file's symbol table.
  /// False for a return address: the call is before it. True for the address at which a signal interrupted the code.
  bool is_exact = false;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend auto operator<=>(const Address&, const Address&) = default;
};

struct SourceFrame {
  explicit SourceFrame(std::pmr::memory_resource* memory) : function(memory), file(memory) {}

  std::pmr::string function;     ///< With namespaces and classes, without parameters; empty = unknown.
  std::pmr::string file;         ///< Normalised; mostly absolute; empty = unknown.
  std::uint32_t line = 0;        ///< Where this frame calls the one inside it; 0 = unknown.
  std::uint32_t first_line = 0;  ///< Of the function, if it is in the same file; 0 = unknown.
};

/// What is known of an address.
struct Place {
  explicit Place(std::pmr::memory_resource* memory) : frames(memory) {}

  std::pmr::vector<SourceFrame> frames;  ///< Innermost inlined function first; empty = nothing is known.
  /// The code by which a signal handler returns: its caller's address is exact.
  bool is_signal_frame = false;
};

}  // namespace syscost::symbols
