// SPDX-License-Identifier: MIT
#include "extras/backend_wishes.h"

#include <span>

namespace syscost::session {

std::span<const BackendWish* const> backend_wishes() {
  static const BackendWish* const wishes[] = {
    &kTraceWish,
    &kStackWish,
    &kSchedulerWish,
    &kFaultWish,
#if SYSCOST_HAS_DISPATCH
    &kCommandWish,
#endif
    &kChildrenWish,
#if SYSCOST_HAS_GPU_IOCTL
    &kDriverWish,
#endif
  };
  return wishes;
}

}  // namespace syscost::session
