// SPDX-License-Identifier: MIT
//
// libsyscost.so is loaded when you request something, not with the program.
//
// If you link syscost and request nothing, the program must behave as before: the same mappings in /proc/self/maps, the
// same calls at start-up, the same needs. So a program is linked with this small archive instead. It holds a stub for
// each function of the public headers. If the command line or the environment requests something, or the program itself
// calls a function for users, the library is loaded before main(), and before the static objects of the program.
// Otherwise the first call of a stub loads it.
#pragma once

namespace syscost::late {

/// True once the library is loaded, for one of these reasons or because something else in the program has loaded it.
bool is_loaded();

/// True if the program is linked with Fault, Forbid or what is made of them.
bool uses_faults();

/// Calls `run` once the functions of the public headers may be called: at once where that is so. It is so when the
/// library is loaded, and when a program that calls us runs without it. Four at most, from static initialisers or one
/// thread.
void at_load(void (*run)());

/// For a main of ours, which has short flags too. True if an argument does not begin with `prefix`, as the arguments of
/// the framework do: it may be one of ours.
bool may_be_asked(int argc, char** argv, const char* prefix);

}  // namespace syscost::late
