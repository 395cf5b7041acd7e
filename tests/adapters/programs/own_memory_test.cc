// SPDX-License-Identifier: MIT
//
// The allocator of this program makes a syscall each time. A test must not be charged for what syscost allocates.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "syscost/gtest.h"
#include "syscost/loop.h"
#include "syscost/syscost.h"

// Those of syscost, too. Not inline: g++ would warn of free() after new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  syscall(SYS_getppid);
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  syscall(SYS_getppid);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  syscall(SYS_getppid);
  std::free(memory);
}

namespace {

constexpr char kName[] = "a name that is longer than what a short string holds";

class OwnMemory : public ::testing::Test {};

TEST_F(OwnMemory, First) {}
TEST_F(OwnMemory, Nothing) {}
TEST_F(OwnMemory, FirstScope) {
  const syscost::Scope scope(kName);
}
TEST_F(OwnMemory, SecondScope) {
  const syscost::Scope scope(kName);
}
TEST_F(OwnMemory, ScopeOfAll) {
  const syscost::Scope scope(kName, syscost::Reach::process);
}
TEST_F(OwnMemory, Leaks) {
  const syscost::LeakCheck leaks;
}
TEST_F(OwnMemory, Loop) {
  for (const auto& each : syscost::loop(kName)) static_cast<void>(each);
}
TEST_F(OwnMemory, LeftLoop) {
  for (const auto& each : syscost::loop(kName)) {
    static_cast<void>(each);
    break;
  }
}

}  // namespace
