// SPDX-License-Identifier: MIT
//
// Builds CSV text in the exact schema for tests.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace syscost::bench::testing {

/// Cells by column name; a name that is no column is a failed check.
using Cells = std::map<std::string, std::string>;

/// The header line with its line feed.
std::string header();
/// A `test` row of `Suite.Test`, repetition 0, of run "r1"; `cells` are set over that.
std::string test_row(const Cells& cells = {});
/// The row of the run itself.
std::string run_row(const Cells& cells = {});
/// A `syscall` row of the same window: one `write` by default.
std::string syscall_row(const Cells& cells = {});

/// The rows of one window: (syscall, detail, calls) of each.
std::string window_rows(const std::vector<std::tuple<std::string, std::string, int>>& rows);

}  // namespace syscost::bench::testing
