// SPDX-License-Identifier: MIT
//
// The mapped parts of the program and its libraries, after relocation. The agent reads them to find a test framework in
// a program that knows nothing of us, be it stripped.
//
// This file and those beside it use no function of the C++ library: the preloaded part of the agent is loaded into
// every program below `bench run`, and must bring no library along.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::agent {

constexpr std::uintptr_t kPageBytes = 4096;

/// Mapped memory of a module that can be read.
struct Span {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool is_code = false;
  bool is_writable = false;

  bool holds(std::uintptr_t address) const {
    return address >= reinterpret_cast<std::uintptr_t>(begin) && address < reinterpret_cast<std::uintptr_t>(end);
  }
};

/// The program or a shared library.
struct Module {
  static constexpr int kMostSpans = 16;

  char path[4096] = {};  ///< Empty for the program.
  std::uintptr_t base = 0;
  Span spans[kMostSpans];
  int span_count = 0;
  std::uintptr_t relro_begin = 0;  ///< Pages that the loader made read-only after relocation.
  std::uintptr_t relro_end = 0;
  const unsigned char* unwind_index = nullptr;  ///< .eh_frame_hdr: where the code of each function begins.

  const Span* begin() const { return spans; }
  const Span* end() const { return spans + span_count; }
  /// True where the module's code is, or constants that lie in one segment with it.
  bool has_code(std::uintptr_t address) const;
  /// Some linkers put constants into one segment with the code (gold; GNU ld with -z noseparate-code).
  bool keeps_constants_in_code() const;
  /// True for what can be called, and for no constant. False too for a function that cannot be told from one, because
  /// it was compiled without unwind tables and lies in one segment with them.
  bool has_function(std::uintptr_t address) const;
  /// True where the module's data may be written now.
  bool has_writable(std::uintptr_t address) const;
  bool is_program() const { return path[0] == '\0'; }
};

/// Calls `visit` for the program and each of its libraries in which a test framework may lie, until it returns false.
/// Leaves out the C library, the loader and syscost's own libraries. The module lives until `visit` returns.
void for_each_module(bool (*visit)(const Module& module, void* context), void* context);

/// The first place in `module`'s read-only data, from `from` on, that holds the `size` bytes at `bytes`; null where
/// there is none.
const char* find_bytes(const Module& module, const char* bytes, std::size_t size, const char* from = nullptr);

/// The address of `name` in the file's symbol tables, as mapped; 0 where the file has no such symbol.
std::uintptr_t find_symbol(const Module& module, const char* name);

}  // namespace syscost::agent
