// SPDX-License-Identifier: MIT
//
// The public headers once more, in namespace syscost_absent: what stands for a function of syscost:: where
// libsyscost.so cannot be loaded is a function of the same name there (stand_ins.h).
//
// Each class comes from the same lines as the library's, so its layout is the library's. list_functions.cmake makes the
// name of each stand-in from the name that the library shows, so a function without one does not link.
#pragma once

#include "late/stand_ins.h"
#include "libc/symbols.h"
#include "syscost/export.h"

// Programs must not show a stand-in to their libraries.
#undef SYSCOST_EXPORT
#define SYSCOST_EXPORT __attribute__((visibility("hidden")))
#define syscost syscost_absent
#include "syscost/adapter.h"
#include "syscost/cost.h"
#include "syscost/counting.h"
#include "syscost/crash.h"
#include "syscost/failures.h"
#include "syscost/faults.h"
#include "syscost/loop.h"
#include "syscost/syscost.h"
#if __has_include("syscost/gpu/record.h")  // a folder that may be missing
#include "syscost/gpu/record.h"
#define SYSCOST_HAS_GPU 1
#else
#define SYSCOST_HAS_GPU 0
#endif
#undef syscost

namespace syscost_absent {

/// Why nothing is measured: the library cannot be loaded.
Unavailable why();

}  // namespace syscost_absent
