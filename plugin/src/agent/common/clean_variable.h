// SPDX-License-Identifier: MIT
//
// A variable of a program below `bench run`, as the program has it alone: what its tests see, and pass on.
#pragma once

#include <cstring>

#include "agent/common/variables.h"

namespace syscost::agent {

/// `variable` ("NAME=VALUE") without what is for programs below `bench run`: itself, or made in `room`, which has as
/// many bytes; null if nothing is left of it. `ours`: our library in LD_PRELOAD; may be null. Allocates nothing.
inline const char* clean_variable(const char* variable, const char* ours, char* room) {
  const auto has_name = [&](const char* name) {
    const std::size_t size = std::strlen(name);
    return std::strncmp(variable, name, size) == 0 && variable[size] == '=';
  };
  for (const char* const name : {kPreloadVariable, kNotesVariable, kChildEndsVariable, kFilteredVariable}) {
    if (has_name(name)) return nullptr;
  }
  const std::size_t begin = std::strcspn(variable, "=") + 1;
  if (has_name("LD_PRELOAD") && ours != nullptr) {
    std::memcpy(room, variable, begin);
    char* end = room + begin;
    for (const char* part = variable + begin; *part != '\0';) {
      const std::size_t size = std::strcspn(part, ": ");
      if (size != 0 && (size != std::strlen(ours) || std::strncmp(part, ours, size) != 0)) {
        if (end != room + begin) *end++ = ':';
        std::memcpy(end, part, size);
        end += size;
      }
      part += size + (part[size] != '\0' ? 1 : 0);
    }
    *end = '\0';
    return end != room + begin ? room : nullptr;
  }
  // `bench run` has put it at the end. AddressSanitizer reads its options before any code of ours runs.
  const std::size_t order = std::strlen(kAsanOrder);
  std::size_t size = std::strlen(variable);
  if (!has_name("ASAN_OPTIONS") || size < begin + order || std::strcmp(variable + size - order, kAsanOrder) != 0) {
    return variable;
  }
  size -= order;
  if (variable[size - 1] == ':') --size;
  std::memcpy(room, variable, size);
  room[size] = '\0';
  return size != begin ? room : nullptr;
}

}  // namespace syscost::agent
