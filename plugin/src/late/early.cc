// SPDX-License-Identifier: MIT
//
// The stubs of what users call, in a member of the archive that only such a program links: late.cc finds it there and
// loads the library at start. Later the program may have changed its root, or given up what loading takes.
#include "late/stubs.h"

#define SYSCOST_STUB(name, stand_in) SYSCOST_STUB_TEXT(name)
__asm__(SYSCOST_SLOTS(syscost_late_early_slots)
#include "late/early_functions.inc"
);
#undef SYSCOST_STUB
#define SYSCOST_STUB(name, stand_in) SYSCOST_STAND_IN_TEXT(stand_in)
__asm__(SYSCOST_STAND_INS(syscost_late_early_stand_ins)
#include "late/early_functions.inc"
            SYSCOST_STAND_INS_END);
#undef SYSCOST_STUB

// NOLINTBEGIN(readability-identifier-naming): names of the linker's
extern "C" {
__attribute__((visibility("hidden"))) extern std::atomic<void*> syscost_late_early_slots[];
__attribute__((visibility("hidden"))) extern void* const syscost_late_early_stand_ins[];
__attribute__((visibility("hidden"))) extern const syscost::late::Stubs syscost_late_early;
}

#define SYSCOST_STUB(name, stand_in) #name "\0"
const syscost::late::Stubs syscost_late_early = {
#include "late/early_functions.inc"
    , syscost_late_early_slots, syscost_late_early_stand_ins};
// NOLINTEND(readability-identifier-naming)
#undef SYSCOST_STUB
