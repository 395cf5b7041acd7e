// SPDX-License-Identifier: MIT
//
// Options that take a list of words with commas between, and may be given several times.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/validators.h"

namespace syscost::bench::cli {

/// Adds the words of each use to `values`. An empty word is an error.
inline void add_list(CLI::App& command, const char* name, std::vector<std::string>& values, const char* type,
                     const char* help) {
  command.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
}

}  // namespace syscost::bench::cli
