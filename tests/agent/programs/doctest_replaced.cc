// SPDX-License-Identifier: MIT
//
// A program whose listeners put another function in the place of each test's body. The second one hears of the test
// after us, in each version: so nothing of ours stands there when the body runs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Replacing : doctest::IReporter {
  explicit Replacing(const doctest::ContextOptions& /*options*/) {}
  void report_query(const doctest::QueryData& /*query*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
  void test_case_start(const doctest::TestCaseData& test) override {
    auto& its = const_cast<doctest::detail::TestCase&>(static_cast<const doctest::detail::TestCase&>(test));
    its.m_test = [] { syscall(SYS_getppid); };
  }
  void test_case_reenter(const doctest::TestCaseData& /*test*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*subcase*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*assert*/) override {}
  void log_message(const doctest::MessageData& /*message*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*test*/) override {}
};

}  // namespace

REGISTER_LISTENER("one", 1, Replacing);
REGISTER_LISTENER("other", 2, Replacing);

TEST_CASE("One") {}
TEST_CASE("Two") {}
