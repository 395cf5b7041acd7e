// SPDX-License-Identifier: MIT
//
// test_order: which tests of a program ran after other tests than before.
//
// Some calls are made once in a process, by the first test that needs their result. In another order, as with
// --gtest_shuffle or Catch2's --order rand, that is another test. So its counts change, and no code did.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "model/dataset.h"

namespace syscost::bench::model {

/// Program and test.
using ProgramTests = std::set<std::pair<std::string, std::string>>;

/// The tests before which not the same of the common tests ran in two processes of their program, of one run or of
/// several. A process is held against the first one that shares a test with it. Tests that only one of them has make
/// no difference.
ProgramTests reordered_tests(std::initializer_list<const Dataset*> runs);

}  // namespace syscost::bench::model
