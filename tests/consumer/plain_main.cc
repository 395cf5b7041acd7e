// SPDX-License-Identifier: MIT
//
// A program without a test framework. It measures a stretch of its own, and has a loop in a run without a request. Exit
// code 0: counted right; 3: nothing can be counted here, and the reason was printed; 1: counted wrong.
#include <fcntl.h>
#include <syscost/loop.h>
#include <syscost/syscost.h>
#include <unistd.h>

#include <iostream>

int main() {
  int sink = open("/dev/null", O_WRONLY);
  ssize_t written = 0;
  syscost::Cost cost = syscost::measure([&] {
    for (int i = 0; i < 19; ++i) {
      written += write(sink, "hello", 5);
    }
  });
  int turns = 0;
  for (auto it : syscost::loop("not_measured")) syscost::do_not_optimize(++turns);
  if (turns != 1) {
    std::cout << "the body of a loop ran " << turns << " times; without a flag it must run once\n";
    return 1;
  }
  syscost::Count writes = cost.calls("write");
  if (writes.unavailable() != nullptr) writes = cost.entries("write");  // seccomp does not see how calls end
  if (const syscost::Unavailable* why = writes.unavailable()) {
    std::cout << "cannot count: " << why->reason << ' ' << why->how_to_fix << '\n';
    return 3;
  }
  std::cout << "write: " << writes.value_or(0) << " calls, " << written << " bytes\n";
  return writes == 19 && written == 95 ? 0 : 1;
}
