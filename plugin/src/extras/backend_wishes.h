// SPDX-License-Identifier: MIT
//
// What each extra wants of the backend of a run. backend_wishes() lists them.
#pragma once

#include "session/backends/backend_wish.h"

namespace syscost::session {

extern const BackendWish kFaultWish;
extern const BackendWish kTraceWish;
extern const BackendWish kStackWish;
extern const BackendWish kSchedulerWish;
extern const BackendWish kCommandWish;
extern const BackendWish kChildrenWish;
extern const BackendWish kDriverWish;

}  // namespace syscost::session
