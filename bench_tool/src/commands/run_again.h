// SPDX-License-Identifier: MIT
//
// What `compare` does with the commands of its sides: it runs them again until the counts that differ are decided.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "cli/options.h"
#include "commands/compare.h"

namespace syscost::bench::commands {

/// Chooses the side of the next run; true is NEW. It must be fair, and its next answer unknown to all: the bound on
/// false reds rests on that.
using Coin = std::function<bool()>;
/// By the kernel's random numbers.
bool toss_coin();

/// Runs the commands of `options` again while a count of `result` is open, and sets what they decided. Returns the
/// error, or "".
std::string run_again(const cli::Options& options, CompareResult& result, std::ostream& err,
                      const Coin& coin = toss_coin);

}  // namespace syscost::bench::commands
