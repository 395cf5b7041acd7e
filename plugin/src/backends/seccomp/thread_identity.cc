// SPDX-License-Identifier: MIT
#include "backends/seccomp/thread_identity.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "os/marked_call.h"

namespace syscost::seccomp {
namespace {

/// `cookie` identifies the installation that read it.
struct ThreadIdentity {
  std::uint64_t cookie = 0;
  std::int32_t thread = 0;
};
thread_local ThreadIdentity t_identity __attribute__((tls_model("initial-exec")));

}  // namespace

std::int32_t calling_thread(const Shared& shared) {
  if (t_identity.cookie == shared.cookie) return t_identity.thread;
  const long thread = marked_call(shared.cookie, SYS_gettid);
  if (thread <= 0 || static_cast<std::size_t>(thread) >= kThreadIds) return 0;
  t_identity = {shared.cookie, static_cast<std::int32_t>(thread)};
  return t_identity.thread;
}

}  // namespace syscost::seccomp
