// SPDX-License-Identifier: MIT
//
// Where GoogleTest's versions differ, from 1.8.1 on: one spelling for each thing.
//
// Its headers have no version number. So we detect each feature: by overloads where the language allows it, else by a
// macro that came with it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

// Flags: since 1.12 they are read with GTEST_FLAG_GET and set with GTEST_FLAG_SET.
#ifdef GTEST_FLAG_GET
#define SYSCOST_GTEST_FLAG(name) GTEST_FLAG_GET(name)
#define SYSCOST_GTEST_SET_FLAG(name, value) GTEST_FLAG_SET(name, value)
#else
#define SYSCOST_GTEST_FLAG(name) ::testing::GTEST_FLAG(name)
#define SYSCOST_GTEST_SET_FLAG(name, value) (void)(::testing::GTEST_FLAG(name) = (value))
#endif

namespace syscost::gtest_adapter {

// Suites: "test cases" before 1.10. If both spellings of an event exist, GoogleTest's printer uses the older
// one, which comes second.
#if defined(TYPED_TEST_SUITE) || defined(INSTANTIATE_TEST_SUITE_P)
using Suite = testing::TestSuite;
#define SYSCOST_ON_SUITE_END OnTestSuiteEnd
#ifdef GTEST_REMOVE_LEGACY_TEST_CASEAPI_
#define SYSCOST_ON_SUITE_START OnTestSuiteStart
#else
#define SYSCOST_ON_SUITE_START OnTestCaseStart
#endif
#else
using Suite = testing::TestCase;
#define SYSCOST_ON_SUITE_START OnTestCaseStart
#define SYSCOST_ON_SUITE_END OnTestCaseEnd
#endif

template <class Test>
auto suite_name(const Test& test, int) -> decltype(test.test_suite_name()) {
  return test.test_suite_name();
}
template <class Test>
auto suite_name(const Test& test, long) -> decltype(test.test_case_name()) {
  return test.test_case_name();
}
inline std::string full_name(const testing::TestInfo& test) {
  return std::string(suite_name(test, 0)) + "." + test.name();
}

inline int suite_count(const testing::UnitTest& unit_test) {
#if defined(TYPED_TEST_SUITE) || defined(INSTANTIATE_TEST_SUITE_P)
  return unit_test.total_test_suite_count();
#else
  return unit_test.total_test_case_count();
#endif
}
inline int failed_suite_count(const testing::UnitTest& unit_test) {
#if defined(TYPED_TEST_SUITE) || defined(INSTANTIATE_TEST_SUITE_P)
  return unit_test.failed_test_suite_count();
#else
  return unit_test.failed_test_case_count();
#endif
}
inline const Suite& suite_at(const testing::UnitTest& unit_test, int index) {
#if defined(TYPED_TEST_SUITE) || defined(INSTANTIATE_TEST_SUITE_P)
  return *unit_test.GetTestSuite(index);
#else
  return *unit_test.GetTestCase(index);
#endif
}

// Skipping came with 1.10.
template <class Result>
auto is_skipped(const Result& result, int) -> decltype(result.Skipped()) {
  return result.Skipped();
}
template <class Result>
bool is_skipped(const Result&, long) {
  return false;
}

// OnTestDisabled came with 1.12.
template <class Listener, class = void>
inline constexpr bool kHearsOfDisabled = false;
template <class Listener>
inline constexpr bool kHearsOfDisabled<Listener, std::void_t<decltype(&Listener::OnTestDisabled)>> = true;

/// --gtest_brief, which came with 1.11: a printer that says nothing of tests that pass.
inline bool is_brief(testing::TestEventListener* printer) {
#ifdef GTEST_FLAG_GET
  static_cast<void>(printer);
  return GTEST_FLAG_GET(brief);
#elif defined(__GXX_RTTI)
  return printer != nullptr && std::string(typeid(*printer).name()).find("Brief") != std::string::npos;
#else
  static_cast<void>(printer);
  return false;
#endif
}

/// True if the program is linked with another GoogleTest than these headers, and the listeners of that one have other
/// virtual functions. Then nothing of ours may derive from them.
bool is_other_than_headers();

}  // namespace syscost::gtest_adapter
