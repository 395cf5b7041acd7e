// SPDX-License-Identifier: MIT
//
// Tells `bench run` that syscost ends this program because it cannot measure it, or changes its exit code.
//
// The program ends with exit code 2 then, and a test may end it with 2, too. So who watches the program, as a sweep of
// `bench faults` does, learns of a refusal in another way: by a line in the notes of `bench run`.
#pragma once

namespace syscost {

/// `why`: one line. Does nothing in a program that is not below `bench run`.
void note_refusal(const char* why);

/// The tests of this program have passed, and it does not end with 0: syscost had a problem, and printed it.
void note_verdict();

}  // namespace syscost
