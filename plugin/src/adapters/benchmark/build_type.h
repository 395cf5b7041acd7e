// SPDX-License-Identifier: MIT
//
// How this build compiles code; the adapter is compiled in the user's build or beside it.
#pragma once

#include <string>

namespace syscost::benchmark_adapter {

#if defined(__has_feature)
#define SYSCOST_HAS_FEATURE(name) __has_feature(name)
#else
#define SYSCOST_HAS_FEATURE(name) 0
#endif

inline std::string build_type() {
#ifdef __OPTIMIZE__
  std::string type = "optimised";
#else
  std::string type = "unoptimised";
#endif
#if defined(__SANITIZE_ADDRESS__) || SYSCOST_HAS_FEATURE(address_sanitizer)
  type += " asan";
#endif
#if defined(__SANITIZE_THREAD__) || SYSCOST_HAS_FEATURE(thread_sanitizer)
  type += " tsan";
#endif
  return type;
}

}  // namespace syscost::benchmark_adapter
