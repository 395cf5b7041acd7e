// SPDX-License-Identifier: MIT
//
// learning: what a sweep learns before it fails a call: the framework of the program, its tests, and the calls that
// each makes when nothing fails. A framework tells how to ask a program for one of its tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::faults {

enum class Framework { googletest, catch2, doctest };

/// `googletest`, as --framework takes it.
std::string_view word_of(Framework framework);

/// Finds it in what the program prints for --help.
std::optional<Framework> framework_in(std::string_view help);

/// The argument that selects the test called `name`, as column `test` has it. GoogleTest has no way to write `-` and
/// `:` of a name: there the argument has `?`, and may select others, too (may_select_others()).
std::string selecting(Framework framework, const std::string& name);
bool may_select_others(Framework framework, const std::string& name);

}  // namespace syscost::bench::faults
