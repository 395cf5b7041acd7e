// SPDX-License-Identifier: MIT
//
// A program whose second test ends it in the way that SYSCOST_TEST_END names, or seems to; and listeners that fail
// tests and suites when they hear of their end.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <string>

namespace {

long g_blocks = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  if (block == nullptr) std::abort();
  ++g_blocks;
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  if (block != nullptr) --g_blocks;
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}

namespace {

bool is_asked(const char* variable, const std::string& value) {
  const char* const text = std::getenv(variable);
  return text != nullptr && text == value;
}
bool ends_by(const char* how) {
  return is_asked("SYSCOST_TEST_END", how);
}

void fork_and_end(int code) {
  const pid_t child = fork();
  if (child == 0) _exit(code);
  waitpid(child, nullptr, 0);
}

TEST(Ends, Before) {}
TEST(Ends, Here) {
  if (ends_by("signal")) {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's is another way to end
    raise(SIGSEGV);
  }
  if (ends_by("abort")) std::abort();
  if (ends_by("closed")) {
    for (int file = 3; file < 4096; ++file) close(file);
  }
  if (ends_by("exit")) std::exit(0);
  if (ends_by("_exit")) _exit(0);
  if (ends_by("exec")) execl("/bin/true", "true", nullptr);
  if (ends_by("child")) fork_and_end(3);
  if (ends_by("death")) {
    EXPECT_DEATH(std::abort(), "");
  }
  if (ends_by("threadsafe death")) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(std::abort(), "");
  }
}
TEST(Ends, After) {}
TEST(Other, Runs) {}

/// Fails at the end of what SYSCOST_TEST_FAIL names.
class FailsAtEnds : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { blocks_ = g_blocks; }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (is_asked("SYSCOST_TEST_FAIL", "heap")) {
      EXPECT_EQ(g_blocks, blocks_);
    }
    if (is_asked("SYSCOST_TEST_FAIL", "test") && std::string(test.name()) == "Here") ADD_FAILURE() << "left open";
    if (is_asked("SYSCOST_TEST_FAIL", "exit") && std::string(test.name()) == "Here") std::exit(0);
  }
  void OnTestSuiteEnd(const testing::TestSuite& suite) override {
    if (is_asked("SYSCOST_TEST_FAIL", "suite") && std::string(suite.name()) == "Ends") ADD_FAILURE() << "left open";
  }
  void OnTestIterationEnd(const testing::UnitTest&, int) override {
    if (is_asked("SYSCOST_TEST_FAIL", "iteration")) ADD_FAILURE() << "left open";
  }
  void OnEnvironmentsTearDownEnd(const testing::UnitTest&) override {
    if (is_asked("SYSCOST_TEST_FAIL", "environment")) ADD_FAILURE() << "left open";
  }

  long blocks_ = 0;
};

void append_listener() {
  testing::UnitTest::GetInstance()->listeners().Append(new FailsAtEnds);
}

/// Before main(), as other libraries do it, or in main().
const bool kIsEarly = [] {
  const bool is_early = std::getenv("SYSCOST_TEST_EARLY") != nullptr;
  if (is_early) append_listener();
  return is_early;
}();

/// Ends the program before its first test, or executes it again.
class Surroundings : public testing::Environment {
  void SetUp() override {
    if (ends_by("set-up")) std::abort();
    if (!ends_by("exec in set-up")) return;
    setenv("SYSCOST_TEST_END", "", 1);
    execl("/proc/self/exe", program.c_str(), "--gtest_brief=1", nullptr);
  }

 public:
  std::string program;
};

}  // namespace

/// Ends the program outside of main().
struct Static {
  Static() {
    if (ends_by("static object")) std::abort();
    if (ends_by("static exit")) std::exit(77);
  }
  ~Static() {
    if (ends_by("destructor")) std::abort();
  }
} static_object;

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (ends_by("before tests")) std::abort();
  if (ends_by("terminated before tests")) raise(SIGTERM);
  if (!kIsEarly) append_listener();
  auto* const surroundings = new Surroundings;
  surroundings->program = argv[0];
  testing::AddGlobalTestEnvironment(surroundings);
  const int result = RUN_ALL_TESTS();
  if (ends_by("after tests")) std::abort();
  if (ends_by("killed after tests")) raise(SIGKILL);
  if (ends_by("_exit after tests")) _exit(0);
  if (ends_by("exec after tests")) execl("/bin/true", "true", nullptr);
  return ends_by("exit code") ? 7 : result;
}
