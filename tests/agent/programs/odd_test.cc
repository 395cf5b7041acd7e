// SPDX-License-Identifier: MIT
//
// Tests and a main() that are unusual, in one program that is built with syscost::gtest and without it: the rows of
// both must be the same. Calls of getppid are what is counted for sure.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

bool should_fail() {
  return std::getenv("SYSCOST_TEST_FAIL") != nullptr;
}

// A class that passes calls on, of as many functions as GoogleTest's has. It must not be taken for GoogleTest's.
struct Teller {
  virtual ~Teller() = default;
#define SLOT(n) virtual void tell_##n(int value) = 0;
#define SLOTS \
  SLOT(1)     \
  SLOT(2)     \
  SLOT(3) SLOT(4) SLOT(5) SLOT(6) SLOT(7) SLOT(8) SLOT(9) SLOT(10) SLOT(11) SLOT(12) SLOT(13) SLOT(14) SLOT(15) SLOT(16)
  SLOTS
#undef SLOT
};
struct Ear : Teller {
  int heard = 0;
#define SLOT(n)                       \
  void tell_##n(int value) override { \
    heard += value;                   \
  }
  SLOTS
#undef SLOT
};
struct TestEventRepeater : Teller {
  std::vector<Teller*> all;
#define SLOT(n)                                    \
  void tell_##n(int value) override {              \
    for (Teller * one : all) one->tell_##n(value); \
  }
  SLOTS
#undef SLOT
};
TEST(Shape, ALookalikeIsLeftAlone) {
  Ear ear;
  TestEventRepeater repeater;
  repeater.all = {&ear, &ear};
  volatile bool is_virtual = true;  // so that no call is inlined
  Teller* const teller = is_virtual ? static_cast<Teller*>(&repeater) : &ear;
#define SLOT(n) teller->tell_##n(1);
  SLOTS
#undef SLOT
  EXPECT_EQ(ear.heard, 32);
  call(1);
}

class SetUpFails : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    call(3);
    if (should_fail()) FAIL() << "on purpose";
  }
};
TEST_F(SetUpFails, IsNotRun) {
  call(4);
}
TEST_F(SetUpFails, NorThis) {
  call(5);
}

class Throws : public testing::Test {
 protected:
  Throws() {
    call(1);
    if (should_fail()) throw std::runtime_error("on purpose");
  }
  void TearDown() override { call(2); }
};
TEST_F(Throws, InItsFixture) {
  call(6);
}

class ThrowsAtTheEnd : public testing::Test {
 protected:
  void TearDown() override {
    call(2);
    if (should_fail()) throw 5;
  }
};
TEST_F(ThrowsAtTheEnd, Once) {
  call(7);
}

TEST(Children, AreTheirOwn) {
  const pid_t child = fork();
  if (child == 0) {
    call(50);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  call(1);
}
TEST(Children, AreNotMeasuredEither) {
  const std::string again = "/proc/self/exe";
  const pid_t child = fork();
  if (child == 0) {
    const char* const arguments[] = {"again", "--gtest_filter=Shape.*", nullptr};
    std::freopen("/dev/null", "w", stdout);
    const char* const empty[] = {nullptr};
    // A test of its own business: not with what `bench run` would measure.
    unsetenv("SYSCOST_CSV");
    execve(again.c_str(), const_cast<char**>(arguments), const_cast<char**>(empty));
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// As an ordinary user under the limit that Linux gives by default, which this program stays below by itself.
TEST(Locks, AllMemory) {
  if (std::getenv("SYSCOST_TEST_LOCKS") == nullptr) GTEST_SKIP() << "only where it is asked for";
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3]{};
  ASSERT_EQ(syscall(SYS_capget, &header, capabilities), 0);
  capabilities[0].effective &= ~(1U << CAP_IPC_LOCK);
  ASSERT_EQ(syscall(SYS_capset, &header, capabilities), 0);
  const rlimit limit{8U << 20, 8U << 20};
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0) << "the limit is lower already";
  EXPECT_EQ(mlockall(MCL_CURRENT | MCL_FUTURE), 0) << errno;
  // Only the program's memory is locked: what it maps now may fill the rest of the limit.
  EXPECT_NE(mmap(nullptr, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
  munlockall();
}

TEST(Threads, Call) {
  std::thread([] { call(8); }).join();
}

class Param : public testing::TestWithParam<std::string> {};
TEST_P(Param, TakesAnyText) {
  call(static_cast<int>(GetParam().size()));
}
INSTANTIATE_TEST_SUITE_P(Odd, Param, testing::Values("", "a\nb", "\"x\",", "\xff\xfe"));

class Registered : public testing::Test {
 public:
  explicit Registered(int times) : times_(times) {}
  void TestBody() override { call(times_); }

 private:
  int times_;
};
void register_test(const char* suite, const char* name, int times) {
  testing::RegisterTest(suite, name, nullptr, nullptr, __FILE__, __LINE__,
                        [times]() -> testing::Test* { return new Registered(times); });
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  static const std::string long_name(300, 'n');
  register_test("Odd suite, \"quoted\"", "a b;c", 9);
  register_test("Odd suite, \"quoted\"", "tab\tand\nline", 10);
  register_test("\xc3\xa9t\xc3\xa9", long_name.c_str(), 11);
  const int first = RUN_ALL_TESTS();
  return RUN_ALL_TESTS() | first;
}
