// SPDX-License-Identifier: MIT
//
// A stand-in for the headers of GoogleTest's versions (GOOGLETEST_MINOR: 8 to 18): what the adapter uses of them, as
// far as they differ. The adapter's sources are compiled against it, and never linked: so that a name that only newer
// versions have is noticed where only a newer version is installed.
#pragma once

#include <ostream>
#include <string>

#if GOOGLETEST_MINOR < 12
#define GTEST_FLAG(name) FLAGS_gtest_##name
#else
#define GTEST_FLAG_GET(name) ::testing::FLAGS_gtest_##name
#define GTEST_FLAG_SET(name, value) (void)(::testing::FLAGS_gtest_##name = (value))
#endif
#define ADD_FAILURE() ::testing::Message()
#define GTEST_MESSAGE_AT_(file, line, message, type) ::testing::Message()
#define ADD_FAILURE_AT(file, line) ::testing::Message()
#define GTEST_HAS_EXCEPTIONS 1

namespace testing {

extern bool FLAGS_gtest_throw_on_failure;
extern bool FLAGS_gtest_catch_exceptions;
extern bool FLAGS_gtest_break_on_failure;
extern std::string FLAGS_gtest_output;
extern std::string FLAGS_gtest_color;
#if GOOGLETEST_MINOR >= 11
extern bool FLAGS_gtest_brief;
#endif

struct Message {
  template <class T>
  Message& operator<<(const T&) {
    return *this;
  }
};

class TestPartResult {
 public:
  enum Type {
    kSuccess,
    kNonFatalFailure,
    kFatalFailure,
#if GOOGLETEST_MINOR >= 10
    kSkip
#endif
  };
  TestPartResult(Type type, const char* file, int line, const char* message);
  bool passed() const;
  bool failed() const;
};

// The same from 1.8 to 1.18; the assertions of fatal failures are made of it.
namespace internal {
class HasNewFatalFailureHelper {
 public:
  HasNewFatalFailureHelper();
  virtual ~HasNewFatalFailureHelper();
  virtual void ReportTestPartResult(const TestPartResult& result);
};
}  // namespace internal

#if GOOGLETEST_MINOR >= 10
class AssertionException {
 public:
  explicit AssertionException(const TestPartResult& result);
};
#endif

class TestProperty {
 public:
  const char* key() const;
};

class TestResult {
 public:
  bool Failed() const;
  int total_part_count() const;
  const TestPartResult& GetTestPartResult(int i) const;
  int test_property_count() const;
  const TestProperty& GetTestProperty(int i) const;
#if GOOGLETEST_MINOR >= 10
  bool Skipped() const;
#endif
};

class TestInfo {
 public:
#if GOOGLETEST_MINOR >= 10
  const char* test_suite_name() const;
#endif
#if GOOGLETEST_MINOR < 10 || !defined(GTEST_REMOVE_LEGACY_TEST_CASEAPI_)
  const char* test_case_name() const;
#endif
  const char* name() const;
  const char* file() const;
  int line() const;
  bool should_run() const;
  const TestResult* result() const;
};

#if GOOGLETEST_MINOR >= 10
#define TYPED_TEST_SUITE(name, types)
struct SkipStream {
  template <class T>
  SkipStream& operator<<(const T&) {
    return *this;
  }
};
struct Skipper {
  void operator=(const SkipStream&) const {}
};
#define GTEST_SKIP() return ::testing::Skipper() = ::testing::SkipStream()
class TestSuite {
#else
class TestCase {
#endif
 public:
  const char* name() const;
  int test_to_run_count() const;
  int total_test_count() const;
  const TestInfo* GetTestInfo(int index) const;
};

class UnitTest;

class TestEventListener {
 public:
  virtual ~TestEventListener() = default;
};

class EmptyTestEventListener : public TestEventListener {
 public:
  virtual void OnTestProgramStart(const UnitTest&) {}
  virtual void OnTestIterationStart(const UnitTest&, int) {}
  virtual void OnEnvironmentsSetUpStart(const UnitTest&) {}
  virtual void OnEnvironmentsSetUpEnd(const UnitTest&) {}
#if GOOGLETEST_MINOR < 10
  virtual void OnTestCaseStart(const TestCase&) {}
  virtual void OnTestCaseEnd(const TestCase&) {}
#else
  virtual void OnTestSuiteStart(const TestSuite&) {}
  virtual void OnTestSuiteEnd(const TestSuite&) {}
#ifndef GTEST_REMOVE_LEGACY_TEST_CASEAPI_
  virtual void OnTestCaseStart(const TestSuite&) {}
  virtual void OnTestCaseEnd(const TestSuite&) {}
#endif
#endif
  virtual void OnTestStart(const TestInfo&) {}
#if GOOGLETEST_MINOR >= 12
  virtual void OnTestDisabled(const TestInfo&) {}
#endif
  virtual void OnTestPartResult(const TestPartResult&) {}
  virtual void OnTestEnd(const TestInfo&) {}
  virtual void OnEnvironmentsTearDownStart(const UnitTest&) {}
  virtual void OnEnvironmentsTearDownEnd(const UnitTest&) {}
  virtual void OnTestIterationEnd(const UnitTest&, int) {}
  virtual void OnTestProgramEnd(const UnitTest&) {}
};

class TestEventListeners {
 public:
  void Append(TestEventListener* listener);
  TestEventListener* default_result_printer() const;
};

class UnitTest {
 public:
  static UnitTest* GetInstance();
  const TestInfo* current_test_info() const;
  TestEventListeners& listeners();
  int test_to_run_count() const;
  int total_test_count() const;
  int disabled_test_count() const;
#if GOOGLETEST_MINOR >= 10
  int total_test_suite_count() const;
  int failed_test_suite_count() const;
  const TestSuite* GetTestSuite(int index) const;
#else
  int total_test_case_count() const;
  int failed_test_case_count() const;
  const TestCase* GetTestCase(int index) const;
#endif
  bool Failed() const;
  const TestResult& ad_hoc_test_result() const;
  const char* original_working_dir() const;
};

class Test {
 public:
  static bool HasFailure();
  static void RecordProperty(const std::string& name, const std::string& value);
};

void InitGoogleTest(int* argc, char** argv);

}  // namespace testing

int RUN_ALL_TESTS();
