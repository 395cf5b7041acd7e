// SPDX-License-Identifier: MIT
//
// Names and classes of syscalls, by number.
//
// A person reads `openat` and gates on `%file`; the kernel counts numbers. This is the one place that knows both. The
// tables are generated from the kernel's headers into the tree (tools/gen_syscall_table.py) so that every build names
// syscalls alike. A number without a name is printed as `syscall_N`, never dropped.
//
// All functions are pure and thread-safe. Those that return std::string allocate: not for use inside a window.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/syscall_id.h"
#include "syscost/schema.h"

namespace syscost {

namespace detail {
enum class ClassIndex : std::uint16_t {
#define SYSCOST_CLASS_INDEX(id, word) id,
  SYSCOST_SYSCALL_CLASSES(SYSCOST_CLASS_INDEX)
#undef SYSCOST_CLASS_INDEX
};
}  // namespace detail

/// The classes of schema.h as bits: a syscall may be in several.
enum class SyscallClass : std::uint16_t {
  none = 0,
#define SYSCOST_CLASS_BIT(id, word) id = 1U << static_cast<unsigned>(detail::ClassIndex::id),
  SYSCOST_SYSCALL_CLASSES(SYSCOST_CLASS_BIT)
#undef SYSCOST_CLASS_BIT
};

constexpr SyscallClass operator|(SyscallClass a, SyscallClass b) {
  return static_cast<SyscallClass>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
/// True when the two sets have a member in common.
constexpr bool overlaps(SyscallClass a, SyscallClass b) {
  return (static_cast<std::uint16_t>(a) & static_cast<std::uint16_t>(b)) != 0;
}

struct ClassName {
  SyscallClass bit;
  std::string_view word;  ///< Without "%".
};
/// Every class, in the order in which class_list() prints them.
inline constexpr std::array kSyscallClasses = {
#define SYSCOST_CLASS_NAME(id, word) ClassName{SyscallClass::id, word},
    SYSCOST_SYSCALL_CLASSES(SYSCOST_CLASS_NAME)
#undef SYSCOST_CLASS_NAME
};

struct SyscallTableEntry {
  std::string_view name;  ///< Empty where the number has no name.
  SyscallClass classes = SyscallClass::none;
};

/// The table of an ABI, indexed by number; has holes.
std::span<const SyscallTableEntry> syscall_table(Abi abi);

/// "" for the native ABI, else what goes before a name: "i386:".
std::string_view abi_prefix(Abi abi);

/// `write` without prefix, whatever the ABI; empty when the number has no name.
std::string_view syscall_base_name(SyscallId id);

/// As people read it: `write`, `i386:write`, `x32:write`, `syscall_1234`, `i386:syscall_1234`, `unknown`.
std::string syscall_name(SyscallId id);

/// The number of a name within one ABI; the name stands without prefix. Also understands `syscall_N`.
std::optional<SyscallId> find_syscall(Abi abi, std::string_view base_name);

/// The inverse of syscall_name(): understands prefixes, `syscall_N` and `unknown`.
std::optional<SyscallId> parse_syscall_name(std::string_view name);

SyscallClass syscall_classes(SyscallId id);

/// Column `class`: words without "%", separated by ";", e.g. `file;desc`; empty when the syscall is in none.
std::string class_list(SyscallId id);

}  // namespace syscost
