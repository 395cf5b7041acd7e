// SPDX-License-Identifier: MIT
//
// test_order: whether the tests of a program always ran in one order.
//
// Some calls are made once in a process, by the first test that needs their result. In another order, as with
// --gtest_shuffle or Catch2's --order rand, that is another test. So its counts change, and no code did.
#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "model/dataset.h"

namespace syscost::bench::model {

/// The programs of which two processes, of one run or of several, ran common tests in different orders.
std::set<std::string, std::less<>> reordered_programs(std::initializer_list<const Dataset*> runs);

}  // namespace syscost::bench::model
