// SPDX-License-Identifier: MIT
//
// The numbers of a finished test in GoogleTest's own output: properties in its XML and JSON, and a line.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "syscost/adapter.h"

namespace syscost::gtest_adapter {

/// Records syscost_calls, syscost_entries, ... on the running test; numbers that were not measured, or
/// that the test records itself, are left out.
void record_properties(const adapter::Report& report, const testing::TestInfo& test);

/// Prints `[ SYSCOST  ] 1024 write, ...` in GoogleTest's manner and colour; `[ SYSCOST  ] Log.Batch: 1024 write, ...`
/// where `test` names it.
void print_line(const adapter::Report& report, const std::string& test);

}  // namespace syscost::gtest_adapter
