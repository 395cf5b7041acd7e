// SPDX-License-Identifier: MIT
//
// Which calls go through prepare() (special.cc), and for whom: one byte for each number.
//
// A client is a part of syscost that looks at the program's calls before and after they are made: faults.h is one. It
// marks the numbers that it wants while it has work, so that without clients no call takes longer. clients.cc asks each
// client that has marked a number.
#pragma once

#include <cstdint>

namespace syscost::signal_safe {

// Bits of syscost_is_special.
inline constexpr unsigned char kNeedsCare = 1;  ///< By nature; never changes.
inline constexpr unsigned char kMarkedByFaults = 2;
inline constexpr unsigned char kMarkedByFiles = 4;  ///< file_log.h
inline constexpr unsigned char kMarkedByFileKinds = 8;
inline constexpr unsigned char kMarkedByAny = static_cast<unsigned char>(~kNeedsCare);

// Bits of syscost_any_armed.
inline constexpr char kLaneArmed = 1;
inline constexpr char kCallsMarked = 2;

inline constexpr std::uint32_t kMarkedNumbers = 512;  ///< Of the native ABI; none of the kernel's is higher.

/// Numbers of syscalls of the native ABI.
struct NumberSet {
  std::uint64_t word[kMarkedNumbers / 64];

  bool has(std::uint32_t number) const {
    return number < kMarkedNumbers && (word[number / 64] >> (number % 64) & 1) != 0;
  }
  void add(std::uint32_t number) { word[number / 64] |= std::uint64_t{1} << (number % 64); }
};

/// From now on the client with the bit `client` is asked about `numbers` and no others. One caller at a time. Calls
/// that other threads have begun may still ask it for an instant.
void set_marks(unsigned char client, const NumberSet& numbers);

/// True if a call of this number is adapted by special.cc, whatever clients want.
bool needs_care(std::uint32_t number);

}  // namespace syscost::signal_safe
