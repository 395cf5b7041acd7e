// SPDX-License-Identifier: MIT
//
// Fixtures: the calls that every test of a fixture makes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "groups/groups.h"

namespace syscost::bench::groups {

/// `Log` of `Log.Write`, `Suite/Log` of `Suite/Log.Write/3`; empty if the name has no such part.
std::string_view fixture_of(std::string_view test);

/// The calls that each of `tests` makes: of each syscall the least number. The most calls first.
std::vector<Calls> common_calls(std::span<const Behaviour* const> tests, std::span<const Syscall> syscalls);

/// The fixtures of two or more tests with common calls that make `least_share` or more of `all_calls`; the largest
/// share first.
std::vector<Fixture> fixtures_of(const Behaviours& behaviours, double all_calls, double least_share);

}  // namespace syscost::bench::groups
