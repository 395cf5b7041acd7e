// SPDX-License-Identifier: MIT
//
// What `bench run` tells the programs below it, beside the variables of options.
#pragma once

namespace syscost::agent {

/// The path in LD_PRELOAD that is ours. It does not begin with SYSCOST_, because those are options.
constexpr const char* kPreloadVariable = "_SYSCOST_PRELOAD";

/// A text that each program with GoogleTest has, whatever was stripped.
constexpr char kGtestMark[] = "[ RUN      ] ";

}  // namespace syscost::agent
