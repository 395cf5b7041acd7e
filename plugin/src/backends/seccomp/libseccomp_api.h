// SPDX-License-Identifier: MIT
//
// Loads libseccomp at run time, for the same reason as libbpf (docs/decisions/0001): a measured program must start on a
// machine without it, and must not see its symbols.
#pragma once

#include <seccomp.h>

#include "os/result.h"

namespace syscost::seccomp {

#define SYSCOST_LIBSECCOMP_FUNCTIONS(X) \
  X(seccomp_api_get)                    \
  X(seccomp_arch_add)                   \
  X(seccomp_arch_remove)                \
  X(seccomp_attr_set)                   \
  X(seccomp_export_bpf)                 \
  X(seccomp_init)                       \
  X(seccomp_merge)                      \
  X(seccomp_release)                    \
  X(seccomp_rule_add_array)

struct LibseccompApi {
#define SYSCOST_LIBSECCOMP_POINTER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  SYSCOST_LIBSECCOMP_FUNCTIONS(SYSCOST_LIBSECCOMP_POINTER)
#undef SYSCOST_LIBSECCOMP_POINTER
};

/// Opens libseccomp.so.2, once per process; later calls return the same. Thread-safe.
Result<const LibseccompApi*> open_libseccomp();

}  // namespace syscost::seccomp
