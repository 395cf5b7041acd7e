// SPDX-License-Identifier: MIT
//
// The build id of a program: the linker's number of it, which is one of the notes in an ELF file.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace syscost {

/// The build id among `notes`, the bytes of a PT_NOTE, in hexadecimal digits; empty if there is none. The bytes may be
/// anything.
inline std::string build_id_in(std::string_view notes) {
  constexpr std::size_t kMostBytes = 65536;  // real notes are some hundred bytes
  constexpr std::size_t kMostOfId = 64;
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto padded = [](std::uint32_t size) { return (std::size_t{size} + 3) & ~std::size_t{3}; };
  notes = notes.substr(0, kMostBytes);
  Elf64_Nhdr note{};
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    const std::size_t name = padded(note.n_namesz);
    if (name > notes.size() || note.n_descsz > notes.size() - name) return {};
    const std::string_view value = notes.substr(name, note.n_descsz);
    const bool is_gnu = notes.substr(0, note.n_namesz) == std::string_view("GNU\0", 4);
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && value.size() <= kMostOfId) {
      std::string text;
      for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
      }
      return text;
    }
    notes.remove_prefix(std::min(name + padded(note.n_descsz), notes.size()));
  }
  return {};
}

}  // namespace syscost
