// SPDX-License-Identifier: MIT
//
// What a program's own calls come to where libsyscost.so cannot be loaded and nothing was asked for: a loop runs once,
// and what is measured has no number, but the reason.
#pragma once

namespace syscost::late {

/// For the function of that linker's name; null = there is nothing that stands for it.
void* stand_in(const char* name, const char* why, const char* remedy);

}  // namespace syscost::late
