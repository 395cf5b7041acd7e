// SPDX-License-Identifier: MIT
//
// The array of pointers that execve and its relatives take.
#pragma once

#include <string>
#include <vector>

namespace syscost {

/// Returns a pointer to each of `texts`, and a null pointer after the last one. The pointers hold while `texts` is not
/// changed. execve does not write to the texts, but its parameters are not const.
inline std::vector<char*> null_ended(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace syscost
