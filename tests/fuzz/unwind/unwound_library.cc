// SPDX-License-Identifier: MIT
//
// A library that calls back from below frames of several kinds. fuzz_tables.cc changes its unwind tables.
#include <alloca.h>

#include <cstddef>

namespace {

using Function = void (*)();

/// Has something to do when an exception passes: so the function has data of its language (LSDA).
struct Cleared {
  explicit Cleared(volatile char* place) : place_(place) {}
  ~Cleared() { *place_ = 0; }
  Cleared(const Cleared&) = delete;
  Cleared& operator=(const Cleared&) = delete;
  volatile char* place_;
};

__attribute__((noinline)) void realigned(Function function, std::size_t bytes) {
  alignas(64) char aligned[64];
  auto* room = static_cast<char*>(alloca(bytes));
  asm volatile("" : : "r"(aligned), "r"(room) : "memory");
  function();
  asm volatile("" : : "r"(aligned), "r"(room) : "memory");
}

/// Room of a size that the compiler does not know takes a frame pointer.
__attribute__((noinline)) void with_frame_pointer(Function function, int depth) {
  auto* room = static_cast<char*>(alloca(static_cast<std::size_t>(depth) + 1));
  asm volatile("" : : "r"(room) : "memory");
  if (depth > 0) with_frame_pointer(function, depth - 1);
  if (depth == 0) realigned(function, 100);
  asm volatile("" : : : "memory");
}

__attribute__((noinline)) void with_something_to_clear(Function function, int depth) {
  volatile char room[40];
  const Cleared cleared(room);
  if (depth > 0) with_something_to_clear(function, depth - 1);
  if (depth == 0) with_frame_pointer(function, 3);
  asm volatile("" : : "r"(room) : "memory");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void call_from_below(Function function) {
  with_something_to_clear(function, 3);
  asm volatile("" : : : "memory");
}
