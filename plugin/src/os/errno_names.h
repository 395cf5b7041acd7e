// SPDX-License-Identifier: MIT
//
// Names of errnos: ENOENT for 2.
//
// A table of our own, because strerrorname_np() exists in glibc only and has no names for the kernel's internal numbers
// from 512 on. These leak to programs now and then (ENOTSUPP from drivers and network code), and always to tracers
// (ERESTARTSYS).
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
