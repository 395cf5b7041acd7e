// SPDX-License-Identifier: MIT
#include "arguments/arguments.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace syscost {
namespace {

constexpr std::size_t kMostArguments = 6;
constexpr std::size_t kNumbers = 512;

struct ArgumentsOfCall {
  std::array<SyscallArgument, kMostArguments> arguments = {};
  std::uint8_t count = 0;
  bool is_known = false;
};

using Table = std::array<ArgumentsOfCall, kNumbers>;

/// By number.
const Table& table() {
  static const Table all = [] {
    Table made;
    const auto put = [&made](std::size_t number, std::initializer_list<SyscallArgument> arguments) {
      ArgumentsOfCall& call = made[number];
      std::copy(arguments.begin(), arguments.end(), call.arguments.begin());
      call.count = static_cast<std::uint8_t>(arguments.size());
      call.is_known = true;
    };
#define SYSCOST_ARGUMENTS(number, ...) put(number, {__VA_ARGS__});
#include "arguments/tables/arguments.inc"
#undef SYSCOST_ARGUMENTS
    return made;
  }();
  return all;
}

/// Null for a call that the table lacks. x32 shares the numbers below 512.
const ArgumentsOfCall* find(SyscallId id) {
  if (id.abi == Abi::i386 || id.number >= kNumbers) return nullptr;
  const ArgumentsOfCall& call = table()[id.number];
  return call.is_known ? &call : nullptr;
}

struct Constant {
  std::uint32_t value;
  std::string_view name;
};

struct Constants {
  std::uint32_t choice_mask;  ///< The part that is one value; the other bits are flags.
  std::span<const Constant> all;
};

#define SYSCOST_CONSTANT(value, name) {value, name},
#define SYSCOST_CONSTANTS(set, choice_mask, ...) constexpr Constant k_##set[] = {__VA_ARGS__};
#include "arguments/tables/constants.inc"
#undef SYSCOST_CONSTANTS
#undef SYSCOST_CONSTANT

/// By ConstantSet.
constexpr Constants kConstants[] = {
#define SYSCOST_CONSTANT(value, name)
#define SYSCOST_CONSTANTS(set, choice_mask, ...) {choice_mask, k_##set},
#include "arguments/tables/constants.inc"
#undef SYSCOST_CONSTANTS
#undef SYSCOST_CONSTANT
};

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

void add(std::string& text, std::string_view part) {
  text.append(text.empty() ? "" : "|").append(part);
}

}  // namespace

std::span<const SyscallArgument> syscall_arguments(SyscallId id) {
  const ArgumentsOfCall* call = find(id);
  if (call == nullptr) return {};
  return std::span(call->arguments).first(call->count);
}

bool has_known_arguments(SyscallId id) {
  return find(id) != nullptr;
}

std::string constants_text(ConstantSet set, std::uint64_t value) {
  const Constants& constants = kConstants[static_cast<std::size_t>(set)];
  // These arguments are ints: the kernel looks at 32 bits.
  auto left = static_cast<std::uint32_t>(value);
  const std::uint32_t choice = left & constants.choice_mask;
  std::string text;
  bool has_choice = false;
  for (const Constant& one : constants.all) {
    if ((one.value & ~constants.choice_mask) == 0 && one.value == choice && (constants.choice_mask != 0 || left == 0)) {
      add(text, one.name);
      has_choice = true;
      break;
    }
  }
  if (has_choice) left &= ~constants.choice_mask;
  for (const Constant& one : constants.all) {
    const bool is_flag = (one.value & constants.choice_mask) == 0 && one.value != 0;
    if (!is_flag || (left & one.value) != one.value) continue;
    add(text, one.name);
    left &= ~one.value;
  }
  if (left != 0) add(text, hexadecimal(left));
  return text.empty() ? "0" : text;
}

}  // namespace syscost
