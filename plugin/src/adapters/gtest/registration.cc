// SPDX-License-Identifier: MIT
//
// How linking alone is enough: a listener is appended before main(), which does nothing until the tests start.
//
// At static initialisation the command line means nothing yet: the program may be asked to list its tests, which
// gtest_discover_tests does at build time, or may be a death test's child. OnTestProgramStart comes after all that, and
// not at all when tests are listed.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <memory>

#include "adapters/gtest/listener.h"
#include "adapters/gtest/versions.h"
#include "late/late.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

// Every program of the consumer is linked with `-u syscost_gtest_registration`, which pulls this file out of its
// archive.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): a name of the linker's
extern const int syscost_gtest_registration;
const int syscost_gtest_registration = 1;
// NOLINTEND(readability-identifier-naming)
}

namespace syscost::gtest_adapter {
namespace {

/// A line of the user's: that of the running test, if we know no nearer one.
adapter::SourceLine known_line(const adapter::SourceLine& at) {
  if (at.file != nullptr) return at;
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  return test != nullptr ? adapter::SourceLine{test->file(), test->line()} : adapter::SourceLine{nullptr, -1};
}

/// Tests and assertions of the user fail or are skipped where nothing can count; never inside an expression of theirs.
bool skip_or_fail(const Unavailable& why, [[maybe_unused]] const adapter::SourceLine& at) {
  if (!adapter::skips_unavailable(why)) return false;
#ifdef GTEST_SKIP
  // What GTEST_SKIP() is made of: it takes no line.
  GTEST_MESSAGE_AT_(known_line(at).file, known_line(at).line, "", testing::TestPartResult::kSkip)
      << "syscost cannot count here: " << why.reason << ' ' << why.how_to_fix;
  return true;
#else
  return false;  // a GoogleTest before 1.10 cannot skip
#endif
}

/// The thread that runs the tests.
pthread_t g_test_thread;

/// Ends the test by GoogleTest's own exception, which stands for a failure that is noted already. Only where one would
/// be caught.
void leave_test([[maybe_unused]] testing::TestPartResult::Type type) {
#if GTEST_HAS_EXCEPTIONS && defined(GTEST_SKIP)
  if (!SYSCOST_GTEST_FLAG(catch_exceptions) || pthread_equal(pthread_self(), g_test_thread) == 0) return;
  if (testing::UnitTest::GetInstance()->current_test_info() == nullptr) return;
  throw testing::AssertionException(testing::TestPartResult(type, nullptr, -1, ""));
#endif
}

void add_failure(std::string_view message, const adapter::SourceLine& at) {
  [[maybe_unused]] const adapter::SourceLine known = known_line(at);
  ADD_FAILURE_AT(known.file, known.line) << message;
}

void end_test(const Unavailable& why, const adapter::SourceLine& at) {
  if (skip_or_fail(why, at)) {
#ifdef GTEST_SKIP
    leave_test(testing::TestPartResult::kSkip);
#endif
    return;
  }
  add_failure("syscost: " + why.reason + ' ' + why.how_to_fix, at);
  leave_test(testing::TestPartResult::kNonFatalFailure);
}

constexpr adapter::TestReporter kReporter = {[](std::string_view message, const adapter::SourceLine& at) {
                                               add_failure(message, at);
                                               return true;
                                             },
                                             end_test, [] { return testing::Test::HasFailure(); }};

/// Through it go all results of assertions on its thread while it exists. A fault of write must not hit what GoogleTest
/// then prints: nobody would see why the test failed. No listener could do this, because the printer is the first one.
class ResultsWithoutFaults final : public testing::internal::HasNewFatalFailureHelper {
 public:
  void ReportTestPartResult(const testing::TestPartResult& result) override {
    adapter::without_faults([&] { HasNewFatalFailureHelper::ReportTestPartResult(result); });
  }
};

/// The early listener: the first of ours at a start, the last at an end. Passive until the tests start.
class OuterListener : public testing::EmptyTestEventListener {
 private:
  void OnTestProgramStart(const testing::UnitTest& unit_test) override {
    g_test_thread = pthread_self();
    late::at_load([] {
      adapter::set_unavailable_handler([](const Unavailable& why) { return skip_or_fail(why, {}); });
      adapter::set_test_reporter(&kReporter);
    });
    if (!late::is_loaded()) return;
    const bool is_requested = adapter::requested();
    if (is_requested || late::uses_faults()) results_ = std::make_unique<ResultsWithoutFaults>();
    if (!is_requested && late::uses_faults()) adapter::open_for_faults();
    // False, too, in the child in which a threadsafe death test runs the program again: its tests are the parent's.
    if (!is_requested) return;
    is_active_ = true;
    keeper_.program_start(unit_test);
    if (inner_ != nullptr) return;  // RUN_ALL_TESTS() for the second time
    // Appended now, it comes after the listeners of the user's main; GoogleTest owns it, and walks its list by index.
    inner_ = new InnerListener(keeper_);
    testing::UnitTest::GetInstance()->listeners().Append(inner_);
  }
  void OnTestStart(const testing::TestInfo&) override {
    if (is_active_) keeper_.before_test();
  }
  // NOLINTNEXTLINE(modernize-use-override): versions before 1.12 have no such event
  void OnTestDisabled(const testing::TestInfo&) {
    if (is_active_) keeper_.note_printed_line();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (is_active_) keeper_.after_test(test);
  }
  void OnTestProgramEnd(const testing::UnitTest&) override { results_.reset(); }

  bool is_active_ = false;
  WindowKeeper keeper_;
  InnerListener* inner_ = nullptr;
  std::unique_ptr<ResultsWithoutFaults> results_;
};

bool g_is_fork_child = false;

/// A program may hold our listener and no test, or never call RUN_ALL_TESTS().
void explain_silence_at_exit() {
  pthread_atfork(nullptr, nullptr, [] { g_is_fork_child = true; });
  std::atexit([] {
    if (!g_is_fork_child) adapter::say_if_nothing_ran();
  });
}

/// Priority 102: after the library is loaded, and before static objects of the program append listeners of their own.
/// Of the listeners, GoogleTest calls the first one last at an end, and then it is known whether another one failed a
/// test.
__attribute__((constructor(102))) void register_listener() {
  if (is_other_than_headers()) {
    if (!late::is_loaded() || !adapter::requested()) return;
    adapter::refuse({"this program is linked with another GoogleTest than the one syscost::gtest was compiled for",
                     "add your GoogleTest to the build before syscost, or name its target: "
                     "set(SYSCOST_GTEST_TARGET my_googletest)"});
  }
  testing::UnitTest::GetInstance()->listeners().Append(new OuterListener);
  late::at_load(explain_silence_at_exit);
}

}  // namespace
}  // namespace syscost::gtest_adapter
