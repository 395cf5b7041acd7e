// SPDX-License-Identifier: MIT
//
// A program without a test framework: prints what a measured stretch cost, has two named scopes and a loop.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <thread>

#include "syscost/loop.h"
#include "syscost/syscost.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

}  // namespace

int main() {
  if (std::getenv("SYSCOST_TEST_LEAVE_OPEN") != nullptr) {
    [[maybe_unused]] static auto* const never_ends = new syscost::Scope("outer");
    const syscost::Scope inner("inner");
    call(2);
    return 0;
  }
  if (std::getenv("SYSCOST_TEST_LOOP") != nullptr) {
    int calls = 0;
    for (auto it : syscost::loop("three")) {
      call(3);
      ++calls;
      if (calls == 8 && std::getenv("SYSCOST_TEST_EXIT") != nullptr) std::exit(0);
      if (calls == 8 && std::getenv("SYSCOST_TEST_PTHREAD_EXIT") != nullptr) pthread_exit(nullptr);
    }
    std::cout << "calls: " << calls << std::endl;
    return 0;
  }
  std::cout << "measured: " << syscost::measure([] { call(3); }) << std::endl;

  syscost::Scope whole("whole", syscost::Reach::process);
  {
    syscost::Scope part("part");
    call(1);
    std::thread([] { call(10); }).join();
    std::cout << "part: " << part.stop().calls("getppid") << std::endl;
  }
  std::cout << "whole: " << whole.stop().calls("getppid") << std::endl;
  std::cout << "cycles: " << syscost::cycles(5) << std::endl;
}
