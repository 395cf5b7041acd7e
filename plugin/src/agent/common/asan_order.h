// SPDX-License-Identifier: MIT
//
// ASAN_OPTIONS of a program below `bench run`, as the program has it alone.
//
// AddressSanitizer reads its options before any code of ours runs, so a test needs ours no more.
#pragma once

#include <string>
#include <string_view>

#include "agent/common/variables.h"

namespace syscost::agent {

/// `options` without kAsanOrder, which `bench run` has put at its end; empty if nothing else was there.
inline std::string without_asan_order(std::string_view options) {
  const std::string_view order = kAsanOrder;
  if (!options.ends_with(order)) return std::string(options);
  options.remove_suffix(order.size());
  if (options.ends_with(':')) options.remove_suffix(1);
  return std::string(options);
}

}  // namespace syscost::agent
