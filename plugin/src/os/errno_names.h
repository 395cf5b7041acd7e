// SPDX-License-Identifier: MIT
//
// errno as a word: reports and the CSV say ENOENT, the kernel says 2.
//
// Own table rather than strerrorname_np(): that exists in glibc only, and knows nothing of the numbers from 512 on
// which the kernel keeps to itself but which leak to programs now and then (ENOTSUPP from drivers and network code) and
// to tracers always (ERESTARTSYS).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace syscost {

/// "ENOENT" for 2; "errno_N" for a number without a name.
std::string errno_name(int number);

/// The inverse: also understands "errno_N" and the second names EWOULDBLOCK, EDEADLOCK and ENOTSUP. Empty when unknown.
std::optional<int> errno_number(std::string_view name);

}  // namespace syscost
