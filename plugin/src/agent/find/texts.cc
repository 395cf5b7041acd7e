// SPDX-License-Identifier: MIT
#include "agent/find/texts.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "syscost/adapter.h"

namespace syscost::agent {
namespace {

/// No name of a test is longer.
constexpr std::size_t kMostText = 1 << 20;

std::optional<std::string> text_at(std::uintptr_t at, std::size_t size) {
  if (size > kMostText) return std::nullopt;
  std::string text(size, '\0');
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's string holds
  if (size != 0 && !read_memory(reinterpret_cast<const void*>(at), text.data(), size)) return std::nullopt;
  return text;
}

std::optional<std::string> read_libstdcxx(const void* at) {
  const auto words = read_value<std::array<std::uintptr_t, 3>>(at);
  if (!words) return std::nullopt;
  constexpr std::size_t kInside = 16;
  const auto [pointer, size, capacity] = *words;
  const bool is_inside = pointer == reinterpret_cast<std::uintptr_t>(at) + kInside;
  if (is_inside ? size >= kInside : capacity < size || capacity < kInside - 1) return std::nullopt;
  return text_at(pointer, size);
}

std::optional<std::string> read_libstdcxx_old(const void* at) {
  constexpr std::size_t kHead = 24;  // size, capacity, references
  const auto pointer = read_value<std::uintptr_t>(at);
  if (!pointer || *pointer < kHead) return std::nullopt;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's string holds
  const auto head = read_value<std::array<std::uintptr_t, 2>>(reinterpret_cast<const void*>(*pointer - kHead));
  if (!head || (*head)[0] > (*head)[1]) return std::nullopt;
  return text_at(*pointer, (*head)[0]);
}

std::optional<std::string> read_libcxx(const void* at) {
  const auto bytes = read_value<std::array<unsigned char, 24>>(at);
  if (!bytes) return std::nullopt;
  if (((*bytes)[0] & 1U) == 0) {
    const std::size_t size = (*bytes)[0] / 2U;
    if (size > 22) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(bytes->data()) + 1, size);
  }
  std::array<std::uintptr_t, 3> words{};
  std::memcpy(words.data(), bytes->data(), sizeof words);
  if (words[1] > words[0]) return std::nullopt;
  return text_at(words[2], words[1]);
}

/// rt_sigprocmask copies a mask of 8 bytes from the program's memory, and then looks at its first argument. With a
/// wrong one it changes nothing, and its error says whether the bytes can be read. Sandboxes that forbid
/// process_vm_readv allow it, and it needs no process id.
bool is_readable(std::uintptr_t word) {
  constexpr long kNoSuchWay = -1;
  long result = SYS_rt_sigprocmask;
  register long mask_bytes asm("r10") = 8;
  asm volatile("syscall"  // without a touch of errno, which is the test's
               : "+a"(result)
               : "D"(kNoSuchWay), "S"(word), "d"(0L), "r"(mask_bytes)
               : "rcx", "r11", "memory");
  return result == -EINVAL;
}

/// By an instruction: memcpy may be the program's, and AddressSanitizer's refuses to read beyond a string.
void copy(const void* from, void* to, std::size_t size) {
  asm volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(size) : : "memory");
}

bool read_by_probes(const void* at, void* into, std::size_t size) {
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::uintptr_t kWord = 8;
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  if (size > UINTPTR_MAX - begin) return false;
  for (std::uintptr_t word = begin / kWord * kWord; word < begin + size; word = (word / kPage + 1) * kPage) {
    if (!is_readable(word)) return false;
  }
  copy(at, into, size);
  return true;
}

}  // namespace

bool read_memory(const void* at, void* into, std::size_t size) {
  bool is_read = false;
  adapter::do_unseen([&] { is_read = read_by_probes(at, into, size); });
  return is_read;
}

std::optional<std::string> read_string(const void* at, StringLayout layout) {
  switch (layout) {
    case StringLayout::libstdcxx:
      return read_libstdcxx(at);
    case StringLayout::libstdcxx_old:
      return read_libstdcxx_old(at);
    case StringLayout::libcxx:
      return read_libcxx(at);
  }
  return std::nullopt;
}

std::optional<std::string> read_bytes(std::uintptr_t at) {
  constexpr std::size_t kPiece = 128;  // divides a page, and what begins in a page can be read to the end of the piece
  std::string text;
  while (text.size() < kMostText) {
    std::array<char, kPiece> piece{};
    const std::size_t size = kPiece - (at + text.size()) % kPiece;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's object holds
    if (!read_memory(reinterpret_cast<const void*>(at + text.size()), piece.data(), size)) return std::nullopt;
    const char* const end = std::find(piece.data(), piece.data() + size, '\0');
    text.append(piece.data(), static_cast<std::size_t>(end - piece.data()));
    if (end != piece.data() + size) break;
  }
  return text;
}

std::optional<VectorWords> VectorWords::of(const void* vector) {
  const auto ends = read_value<std::array<std::uintptr_t, 3>>(vector);
  if (!ends) return std::nullopt;
  const auto [begin, end, room] = *ends;
  const bool is_vector = begin % sizeof begin == 0 && (end - begin) % sizeof begin == 0 && begin <= end && end <= room;
  return is_vector ? std::optional(VectorWords(begin, end)) : std::nullopt;
}

std::optional<std::uintptr_t> VectorWords::next() {
  if (at_ >= filled_to_) {
    const std::size_t count = std::min(piece_.size(), left());
    std::uintptr_t* const to = piece_.data() + piece_.size() - count;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's vector holds
    if (!read_memory(reinterpret_cast<const void*>(at_), to, count * sizeof at_)) return std::nullopt;
    filled_to_ = at_ + count * sizeof at_;
  }
  const std::uintptr_t word = piece_[piece_.size() - (filled_to_ - at_) / sizeof at_];
  at_ += sizeof at_;
  return word;
}

bool mentions_libcxx(const Module& module) {
  // Put together here: a program that is linked with us must not hold it because of us.
  const volatile char first = 'N';
  const std::string name = std::string(1, first) + "St3__1";
  return find_bytes(module, name.data(), name.size()) != nullptr;
}

}  // namespace syscost::agent
