// SPDX-License-Identifier: MIT
#include "extras/faults/core/fault_rule.h"

#include <algorithm>
#include <string_view>

#include "core/bytes.h"
#include "core/syscall_table.h"
#include "core/tables/stretches.h"

namespace syscost {
namespace {

/// A program cannot go on after one of these has failed: it does not look at a result.
constexpr std::string_view kNeverFail[] = {"rt_sigreturn", "exit", "exit_group", "restart_syscall"};

/// True if a term of the selector is this name.
bool names(std::string_view selector, std::string_view name) {
  for (std::size_t at = 0; at <= selector.size();) {
    const std::size_t end = std::min(selector.find(',', at), selector.size());
    if (selector.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

FaultNumbers fault_numbers(std::string_view text, const Selector& wanted, bool is_brk_refused) {
  FaultNumbers found;
  std::string_view left_out;
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    const SyscallId id{Abi::x86_64, number};
    if (!wanted.matches(id)) continue;
    const std::string_view name = syscall_base_name(id);
    const bool never_fails = std::find(std::begin(kNeverFail), std::end(kNeverFail), name) != std::end(kNeverFail) ||
                             (is_brk_refused && name == "brk");
    if (!never_fails) {
      found.numbers.set(number);
    } else if (names(text, name)) {
      found.refused = name;
    } else {
      left_out = name;
    }
  }
  if (found.refused.empty() && found.numbers.none()) found.refused = left_out;
  return found;
}

bool moves_bytes(std::uint32_t number) {
  return byte_rule({Abi::x86_64, number}).moves();
}

bool can_be_shortened(std::uint32_t number) {
  return byte_rule({Abi::x86_64, number}).has_size() || has_stretches(number);
}

}  // namespace syscost
