// SPDX-License-Identifier: MIT
//
// Functions of the C library in front of the guest's: what they say of "the program" is what they would say in it.
#pragma once

#include "agent/guest/program.h"

namespace syscost::guest {

/// From now on dl_iterate_phdr() tells of `program` as the program, and the program's name is its.
void show_program(const Program& program);

/// Runs what was given to on_exit(): the guest's C library does not hear that the program ends.
void run_exit_functions();

}  // namespace syscost::guest
