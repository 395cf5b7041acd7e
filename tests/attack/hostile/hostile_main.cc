// SPDX-License-Identifier: MIT
//
// The program of the hostile cases: each is a test of suite Hostile, between Ordinary.Before and Ordinary.After.
//
// Linked twice: with syscost::gtest, and bare (ATTACK_BARE), which says what the right verdict is.
//
//     attack_hostile --cases          name, calls of getppid, summary; with tabs between
//     attack_hostile --only NAME      Before, NAME, After
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "hostile.h"
#ifndef ATTACK_BARE
#include "syscost/loop.h"
#include "syscost/syscost.h"
#endif

namespace attack {
namespace {

std::function<void()> g_later;

class OneCase : public testing::Test {
 public:
  explicit OneCase(void (*body)()) : body_(body) {}
  void TestBody() override { body_(); }

 private:
  void (*body_)();
};

}  // namespace

std::vector<Hostile>& cases() {
  static std::vector<Hostile> all;
  return all;
}

void later(std::function<void()> check) {
  g_later = std::move(check);
}

void run_loop() {
#ifdef ATTACK_BARE
  std::printf("attack: a loop\n");
  for (int i = 0; i < 20; ++i) call_libc(kCallsOfLoop);
#else
  for ([[maybe_unused]] auto pass : syscost::loop("loop")) call_libc(kCallsOfLoop);
#endif
}

void in_scope(void (*body)()) {
#ifndef ATTACK_BARE
  const syscost::Scope scope;
#endif
  body();
}

void wait_for_state(pid_t task, char state) {
  const std::string path = "/proc/" + std::to_string(task) + "/stat";
  std::string line;
  do {
    sched_yield();
    std::getline(std::ifstream(path), line);
  } while (line.find(std::string(") ") + state) == std::string::npos);  // after the name
}

bool filter(std::initializer_list<int> syscalls, unsigned action) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int number : syscalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, action));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool filter_errno(std::initializer_list<int> syscalls, int error) {
  return filter(syscalls, SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
}

// The driver's: stays until its standard input ends, so that a helper does.
TEST(Holder, Stays) {
  std::getchar();
}

// The victim of strangers: says when its window is open, and counts on their cue.
TEST(Victim, Counts) {
  std::printf("victim: ready\n");
  std::fflush(stdout);
  std::getchar();
  call_both(2500);
}

TEST(Victim, Loops) {
  std::printf("victim: ready\n");
  std::fflush(stdout);
  std::getchar();
  call_both(1250);
  run_loop();
  call_both(1250);
}

// Often enough that a backend which patches hot call sites has patched libc's by the time the case runs.
TEST(Ordinary, Before) {
  call_both(20);
}

namespace {

void register_cases() {
  for (const Hostile& one : cases()) {
    testing::RegisterTest("Hostile", one.name, nullptr, nullptr, __FILE__, __LINE__,
                          [body = one.body]() -> testing::Test* { return new OneCase(body); });
  }
  testing::RegisterTest("Then", "After", nullptr, nullptr, __FILE__, __LINE__, []() -> testing::Test* {
    return new OneCase([] {
      if (g_later) g_later();
      call_both(7);
    });
  });
}

}  // namespace
}  // namespace attack

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--cases") == 0) {
    for (const attack::Hostile& one : attack::cases()) std::printf("%s\t%d\t%s\n", one.name, one.made, one.summary);
    return 0;
  }
  attack::register_cases();
  return RUN_ALL_TESTS();
}
