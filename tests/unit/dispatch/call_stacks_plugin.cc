// SPDX-License-Identifier: MIT
//
// A library that call_stacks_test.cc loads and unloads. The two of them differ in the size of one frame.
#include <unistd.h>

namespace {

constexpr unsigned kBytes = NUMBER == 1 ? 1024 : 4096;

__attribute__((noinline)) int call(char* room) {
  const int parent = getppid();
  room[static_cast<unsigned>(parent) % kBytes] = 1;
  return parent;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int call_from_plugin() {
  char room[kBytes];
  const int parent = call(room);
  asm volatile("" : : "r"(room) : "memory");
  return parent;
}
