// SPDX-License-Identifier: MIT
//
// Reads a std::string and other values of the program, for each C++ library that the program may be built with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/find/modules.h"

namespace syscost::agent {

/// How std::string lies in memory.
enum class StringLayout {
  libstdcxx,      ///< GCC's since version 5: pointer, size, 16 bytes of text or the capacity. 32 bytes.
  libstdcxx_old,  ///< GCC's with _GLIBCXX_USE_CXX11_ABI=0: a pointer to the text; its size is 24 bytes before that.
  libcxx,         ///< LLVM's: 24 bytes; bit 0 says whether the text is in them.
};

constexpr std::size_t string_bytes(StringLayout layout) {
  return layout == StringLayout::libstdcxx ? 32 : layout == StringLayout::libcxx ? 24 : 8;
}

/// The text of the string at `at`; nothing where no string lies there. An address that is not mapped is no error.
std::optional<std::string> read_string(const void* at, StringLayout layout);

/// Copies the bytes at `at`. Asks the kernel before whether they can be read, by an rt_sigprocmask that changes nothing
/// and is not counted. False where they are not mapped. Only for memory of the test framework, which no other thread
/// unmaps meanwhile. Any thread; keeps errno.
bool read_memory(const void* at, void* into, std::size_t size);
template <class T>
std::optional<T> read_value(const void* at) {
  T value{};
  if (!read_memory(at, &value, sizeof value)) return std::nullopt;
  return value;
}

/// The bytes at address `at`, up to a NUL. A test's name may hold any others.
std::optional<std::string> read_bytes(std::uintptr_t at);

/// The words of a std::vector of pointers or of other things of whole words, one after another. The words may be
/// anything. It takes no memory from the heap: what is no vector may seem to span gigabytes.
class VectorWords {
 public:
  /// Nothing where no vector lies there.
  static std::optional<VectorWords> of(const void* vector);

  std::size_t left() const { return (end_ - at_) / sizeof at_; }
  /// While words are left. Nothing if it cannot be read.
  std::optional<std::uintptr_t> next();

 private:
  VectorWords(std::uintptr_t begin, std::uintptr_t end) : at_(begin), end_(end) {}

  std::uintptr_t at_;
  std::uintptr_t end_;
  std::array<std::uintptr_t, 64> piece_{};  // read, and ends at filled_to_
  std::uintptr_t filled_to_ = 0;
};

/// True when the module's names have libc++'s inline namespace.
bool mentions_libcxx(const Module& module);

}  // namespace syscost::agent
