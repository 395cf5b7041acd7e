// SPDX-License-Identifier: MIT
//
// The names and kinds of syscalls' arguments, and values as people read them: "O_WRONLY|O_CREAT", "AT_FDCWD", "ENOENT".
//
// The tables are generated into the tree (tools/gen_argument_tables.py): names of arguments are the kernel's own,
// values of constants those of the system's headers. All functions are thread-safe; those that return text allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/syscall_id.h"

namespace syscost {

enum class ArgumentKind : std::uint8_t {
  number,           ///< An int.
  unsigned_number,  ///< 32 bits.
  long_number,      ///< 64 bits, with a sign.
  size,             ///< 64 bits.
  hexadecimal,
  address,     ///< Its target is not kept.
  descriptor,  ///< A file descriptor.
  directory,   ///< A file descriptor, or AT_FDCWD.
  path,        ///< The address of a string that the kernel has read if the call succeeded.
  mode,        ///< Permissions, in octal.
  constants,   ///< From a set with names.
};

/// Constants that an argument may have: flags, a choice, or both.
enum class ConstantSet : std::uint8_t {
#define SYSCOST_CONSTANTS(set, choice_mask, ...) set,
#define SYSCOST_CONSTANT(value, name)
#include "arguments/tables/constants.inc"
#undef SYSCOST_CONSTANT
#undef SYSCOST_CONSTANTS
};

struct SyscallArgument {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::number;
  ConstantSet set = {};  ///< If `kind` is `constants`.
};

/// In their order. Empty for a call without arguments, and for one that the table lacks: has_known_arguments().
std::span<const SyscallArgument> syscall_arguments(SyscallId id);
bool has_known_arguments(SyscallId id);

/// `O_WRONLY|O_CREAT`; bits without a name are hexadecimal: `MAP_PRIVATE|0x10000000`. A choice without a name is
/// `0x2f`.
std::string constants_text(ConstantSet set, std::uint64_t value);

}  // namespace syscost
