// SPDX-License-Identifier: MIT
#pragma once

namespace syscost {

/// Compiled with AddressSanitizer or ThreadSanitizer, which have handlers and system calls of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace syscost
