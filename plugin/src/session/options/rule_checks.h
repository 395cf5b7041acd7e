// SPDX-License-Identifier: MIT
//
// What a fault asks for, checked and completed before a backend opens it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault_rule.h"
#include "os/result.h"

namespace syscost::session {

std::string quoted_selector(std::string_view selector);

/// True if the calls that are hit get an error.
bool fails(const FaultRule& rule);
/// True if the rule hits some of the calls by their number.
bool counts_calls(const FaultRule& rule);

/// Fails for numbers that make no sense.
Result<void> check(const FaultRule& rule);
/// Makes the path absolute, and finds the kernel's name of it.
Result<void> find_path(FaultRule& rule);
/// What is said of a rule of the process that so many threads would not meet: a test could pass that breaks it.
Failure has_unreached_threads(std::string_view backend, std::size_t threads);
/// Sets the numbers. Fails if the rule could hit no call, whatever the program does. `is_brk_refused`: the backend
/// cannot let it fail.
Result<void> find_numbers(std::string_view selector, FaultRule& rule, bool is_brk_refused);

/// The syscalls that the rule can hit of those that are selected.
std::vector<std::string> names_of(std::string_view selector, const FaultRule& rule, bool is_brk_refused);

}  // namespace syscost::session
