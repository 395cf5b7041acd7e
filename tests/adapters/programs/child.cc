// SPDX-License-Identifier: MIT
//
// child N: what children_test.cc starts; calls getppid N times.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
  return 0;
}
