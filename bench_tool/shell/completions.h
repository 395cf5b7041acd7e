// SPDX-License-Identifier: MIT
//
// Completions of bench for three shells: sub-commands, options, the words that options take, and files.
#pragma once

#include <string>

#include "command_tree.h"

namespace syscost::bench::shell {

std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

}  // namespace syscost::bench::shell
