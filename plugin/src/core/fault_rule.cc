// SPDX-License-Identifier: MIT
#include "core/fault_rule.h"

#include <algorithm>
#include <string_view>

#include "core/syscall_table.h"

namespace syscost {
namespace {

/// A program cannot go on after one of these has failed: it does not look at a result.
constexpr std::string_view kNeverFail[] = {"rt_sigreturn", "exit", "exit_group", "restart_syscall"};

}  // namespace

FaultNumbers fault_numbers(const Selector& wanted) {
  FaultNumbers found;
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    const SyscallId id{Abi::x86_64, number};
    if (!wanted.matches(id)) continue;
    const std::string_view name = syscall_base_name(id);
    if (std::find(std::begin(kNeverFail), std::end(kNeverFail), name) == std::end(kNeverFail)) {
      found.numbers.set(number);
    } else if (found.refused.empty()) {
      found.refused = name;
    }
  }
  return found;
}

}  // namespace syscost
