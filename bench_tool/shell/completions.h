// SPDX-License-Identifier: MIT
//
// Completions for three shells: sub-commands, options, the words that options take, and files.
#pragma once

#include <string>

#include "command_tree.h"

namespace syscost::bench::shell {

/// The program to complete.
struct Program {
  std::string name;      ///< bench. The shells' functions begin with it.
  bool is_bound = true;  ///< The functions complete this name. False: users bind them to their own programs.
  std::string about;     ///< The first comment of a script.
  Command root;
};

/// bench.
Program bench_program();
/// Every program that is linked with syscost.
Program test_program();

std::string bash_completion(const Program& program);
std::string zsh_completion(const Program& program);
std::string fish_completion(const Program& program);
/// Where fish looks for it, below its folder.
std::string fish_file(const Program& program);

}  // namespace syscost::bench::shell
