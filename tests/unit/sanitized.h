// SPDX-License-Identifier: MIT
#pragma once

namespace syscost {

/// Compiled with AddressSanitizer or ThreadSanitizer, which have handlers and system calls of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// ThreadSanitizer's runtime has a thread of its own, older than any backend, and makes other calls of some functions.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kHasRuntimeThread = true;
#else
inline constexpr bool kHasRuntimeThread = false;
#endif

}  // namespace syscost
