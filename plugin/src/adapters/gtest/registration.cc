// SPDX-License-Identifier: MIT
//
// How linking alone is enough: a listener is appended before main(), which does nothing until the tests start.
//
// At static initialisation the command line means nothing yet: the program may be asked to list its tests, which
// gtest_discover_tests does at build time, or may be a death test's child. OnTestProgramStart comes after all that, and
// not at all when tests are listed.

#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/gtest/listener.h"
#include "adapters/gtest/versions.h"
#include "late/late.h"
#include "libc/symbols.h"
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
  // GTEST_SKIP() is made of this, but takes no line.
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

// ---- short flags ----------------------------------------------------------------------------------------------------

/// `csv` for `--csv=FILE` in place of `--syscost_csv=FILE`; null where nothing of the kind was typed.
const char* g_short_flag = nullptr;

/// GoogleTest ignores what it does not know: there would be no CSV, and no word of it.
void note_short_flag(int argc, char** argv) {
  for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
    std::string_view word = argv[i];
    if (word.substr(0, 2) != "--") continue;
    word = word.substr(2, word.substr(2).find('='));
    for (const char* const one :
         {"csv", "profile", "backend", "where", "trace", "sched", "leaks", "inject", "detail"}) {
      if (word == one) g_short_flag = one;
    }
  }
}

/// By single bytes: AddressSanitizer takes what lies between two constants for an error.
__attribute__((no_sanitize("address"))) bool holds_text(const char* bytes, std::size_t size, std::string_view text) {
  const char* const wanted = text.data();
  for (std::size_t at = 0; at + text.size() <= size; ++at) {
    std::size_t same = 0;
    while (same < text.size() && bytes[at + same] == wanted[same]) ++same;
    if (same == text.size()) return true;
  }
  return false;
}

/// True if main() is GoogleTest's or GoogleMock's, which print a text that has no other use. Any other main() may have
/// such a flag itself.
bool is_main_of_googletest() {
  const auto has_text = [](dl_phdr_info* object, std::size_t, void*) {
    static const std::string text = std::string("Running main()") + " from ";  // in one piece it would be found here
    const std::string_view name = object->dlpi_name;
    if (!name.empty() && name.find("test_main") == name.npos && name.find("mock_main") == name.npos) return 0;
    for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = object->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & (PF_R | PF_W)) != PF_R) continue;
      if (holds_text(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_filesz, text)) return 1;
    }
    return 0;
  };
  return SYSCOST_LIBC(dl_iterate_phdr)(has_text, nullptr) != 0;
}

void warn_of_short_flag() {
  if (g_short_flag == nullptr || !is_main_of_googletest()) return;
  SYSCOST_LIBC(fprintf)
  (stderr,
   "syscost: GoogleTest's main ignores --%s\n  write --syscost_%s, or link syscost::gtest_main, which has the short "
   "flags\n",
   g_short_flag, g_short_flag);
}

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
/// The early listener: the first of ours at a start, the last at an end. Passive until the tests start.
class OuterListener : public testing::EmptyTestEventListener {
 private:
  void OnTestProgramStart(const testing::UnitTest& unit_test) override {
    g_test_thread = pthread_self();
    warn_of_short_flag();
    late::at_load([] {
      adapter::set_unavailable_handler([](const Unavailable& why) {
        // In the child of a death test GoogleTest prints nothing.
        if (adapter::is_fork_child()) adapter::say("cannot count here: " + why.reason + ' ' + why.how_to_fix);
        return skip_or_fail(why, {});
      });
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
#ifdef __clang__
#pragma clang diagnostic pop
#endif

bool g_is_fork_child = false;

/// A program may hold our listener and no test, or never call RUN_ALL_TESTS().
void explain_silence_at_exit() {
  pthread_atfork(nullptr, nullptr, [] { g_is_fork_child = true; });
  std::atexit([] {
    if (!g_is_fork_child) adapter::say_if_nothing_ran();
  });
}

/// Priority 102: after the library is loaded, and before static objects of the program append listeners of their own.
/// GoogleTest calls the first listener last at an end, and then it is known whether another one failed a test.
__attribute__((constructor(102))) void register_listener(int argc, char** argv) {
  note_short_flag(argc, argv);
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

// GoogleTest says its version nowhere. A function of its flags has one name up to 1.11 and another from 1.12 on, where
// listeners got an event more. Earlier differences do not link. Weak: only one of the two is there, or none.
// NOLINTBEGIN(readability-identifier-naming): the linker's names
__attribute__((weak)) void syscost_gtest_of_1_11() __asm__("_ZN7testing8internal14ParseInt32FlagEPKcS2_Pi");
__attribute__((weak)) void syscost_gtest_of_1_12() __asm__("_ZN7testing8internal9ParseFlagEPKcS2_Pi");
// NOLINTEND(readability-identifier-naming)

namespace syscost::gtest_adapter {

bool is_other_than_headers() {
  if (kHearsOfDisabled<testing::EmptyTestEventListener>) return syscost_gtest_of_1_11 != nullptr;
  return syscost_gtest_of_1_12 != nullptr;
}

}  // namespace syscost::gtest_adapter
