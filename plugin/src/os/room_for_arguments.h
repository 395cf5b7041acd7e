// SPDX-License-Identifier: MIT
//
// The kernel takes arguments and variables of a program up to a size (E2BIG, "Argument list too long").
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace syscost {

/// Bytes that the kernel copies for `texts`, the arguments or the environment of a program: the texts, and a pointer to
/// each.
inline std::size_t bytes_for(const char* const* texts) {
  std::size_t bytes = 0;
  for (; *texts != nullptr; ++texts) bytes += std::strlen(*texts) + 1 + sizeof *texts;
  return bytes;
}

inline std::size_t bytes_for(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + 1 + sizeof(const char*);
  return bytes;
}

/// What makes room, by the largest variable of `environment`.
inline std::string how_to_make_room(const std::vector<std::string>& environment) {
  std::string_view largest;
  for (const std::string& one : environment) {
    if (one.size() > largest.size()) largest = one;
  }
  return "unset a variable that the command does not need (the largest is " +
         std::string(largest.substr(0, largest.find('='))) + ", of " + std::to_string(largest.size()) +
         " bytes), give it fewer arguments, or raise the limit of the stack, a quarter of which is for both: ulimit -s";
}

}  // namespace syscost
