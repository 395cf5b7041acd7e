// SPDX-License-Identifier: MIT
//
// The stubs of Fault and Forbid, in a member of the archive that only a program links which uses them: late.cc finds it
// there, loads the library at start, and tells it that a backend is needed by which calls can fail.
#include "late/stubs.h"

#define SYSCOST_STUB(name, stand_in) SYSCOST_STUB_TEXT(name)
__asm__(SYSCOST_SLOTS(syscost_late_faults_slots)
#include "late/fault_functions.inc"
);
#undef SYSCOST_STUB
#define SYSCOST_STUB(name, stand_in) SYSCOST_STAND_IN_TEXT(stand_in)
__asm__(SYSCOST_STAND_INS(syscost_late_faults_stand_ins)
#include "late/fault_functions.inc"
            SYSCOST_STAND_INS_END);
#undef SYSCOST_STUB

// NOLINTBEGIN(readability-identifier-naming): names of the linker's
extern "C" {
__attribute__((visibility("hidden"))) extern std::atomic<void*> syscost_late_faults_slots[];
__attribute__((visibility("hidden"))) extern void* const syscost_late_faults_stand_ins[];
__attribute__((visibility("hidden"))) extern const syscost::late::Stubs syscost_late_faults;
}

#define SYSCOST_STUB(name, stand_in) #name "\0"
const syscost::late::Stubs syscost_late_faults = {
#include "late/fault_functions.inc"
    , syscost_late_faults_slots, syscost_late_faults_stand_ins};
// NOLINTEND(readability-identifier-naming)
#undef SYSCOST_STUB
