// SPDX-License-Identifier: MIT
//
// How GoogleTest's classes lie in memory, from version 1.8.0 to 1.18.0. Read in the sources of each; a version's
// headers are not there where a program was not compiled by us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/names/equal_names.h"
#include "agent/find/texts.h"

namespace syscost::agent::gtest {

/// Which slot of TestEventListener's vtable holds which event. The order is that of the declarations, so the number of
/// slots, two destructors included, tells the version.
struct EventSlots {
  int program_start, iteration_start, set_up_start, set_up_end;
  int suite_start;  ///< The last that says so: OnTestCaseStart where there are both.
  int test_start, test_disabled, part_result, test_end;
  int suite_end;  ///< The first that says so: OnTestSuiteEnd where there are both.
  int tear_down_start, tear_down_end, program_end;
};
constexpr int kNoSuchEvent = -1;

/// Null for a number of slots that no version has.
const EventSlots* event_slots(int count);

/// A test, read from testing::TestInfo.
struct Test {
  std::string name;  ///< "Suite.Test"
  names::TestPlace place;
  bool is_chosen = false;
  bool is_disabled = false;
};
/// A suite, read from testing::TestSuite or testing::TestCase.
struct Suite {
  std::string name;
  std::vector<Test> tests;
  /// Where a std::vector of this program has its three words: with _GLIBCXX_DEBUG, behind what knows its iterators.
  std::size_t vector_at = 0;

  int chosen() const;
};

/// Nothing where what lies there is not what these versions have there.
std::optional<Test> read_test(const void* test_info, StringLayout layout);
std::optional<Suite> read_suite(const void* test_suite, StringLayout layout);
/// All suites of testing::UnitTest. Nothing where they are not found.
std::optional<std::vector<Suite>> read_suites(const void* unit_test, bool may_be_libcxx);

/// testing::TestPartResult::Type.
enum class PartResult { success, nonfatal_failure, fatal_failure, skip };
PartResult read_part_result(const void* part_result);

/// True where the repeater passes events on. GoogleTest stops that in the child of a death test.
bool forwards(const void* repeater);

}  // namespace syscost::agent::gtest
