// SPDX-License-Identifier: MIT
//
// Recorded output of bpftrace in tests/unit/profilers/data, each file beside its script. The version is 0.17, or the
// one in the name.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace syscost::profilers {

inline std::string recorded(const std::string& name) {
  std::ifstream file(std::string(SYSCOST_SOURCE_DIR) + "/tests/unit/profilers/data/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace syscost::profilers
