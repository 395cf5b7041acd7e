// SPDX-License-Identifier: MIT
//
// Trapped calls on stacks of ours: who looks from a handler sees the caller, and signals are kept while one waits.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "opened.h"

namespace syscost::dispatch {
namespace {

long call_raw(long number, const void* a = nullptr, long b = 0, const void* c = nullptr, const void* d = nullptr,
              long e = 0) {
  long result = number;
  register const void* fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
  return result;
}

struct Seen {
  std::uintptr_t wanted = 0;
  bool is_found = false;
  int frames = 0;
};

Seen g_seen;

_Unwind_Reason_Code look(_Unwind_Context* context, void* /*unused*/) {
  ++g_seen.frames;
  if (_Unwind_GetRegionStart(context) == g_seen.wanted) g_seen.is_found = true;
  return _URC_NO_REASON;
}

void look_back(int /*signal*/) {
  g_seen.is_found = false;
  g_seen.frames = 0;
  _Unwind_Backtrace(look, nullptr);
}

/// Sends itself SIGUSR1 by a call that ends with the handler.
__attribute__((noinline)) long send_to_self() {
  const long process = call_raw(SYS_getpid);
  const long result = call_raw(SYS_kill, reinterpret_cast<const void*>(process), SIGUSR1);
  asm volatile("" : : : "memory");
  return result;
}

/// The same under a mask for the length of the wait: a call that needs care.
__attribute__((noinline)) long wait_for_signal() {
  const std::uint64_t usr1 = 1ULL << (SIGUSR1 - 1);
  const std::uint64_t none = 0;
  call_raw(SYS_rt_sigprocmask, reinterpret_cast<const void*>(SIG_BLOCK), reinterpret_cast<long>(&usr1), nullptr,
           reinterpret_cast<const void*>(8));
  send_to_self();
  const long result = call_raw(SYS_ppoll, nullptr, 0, nullptr, &none, 8);
  call_raw(SYS_rt_sigprocmask, reinterpret_cast<const void*>(SIG_UNBLOCK), reinterpret_cast<long>(&usr1), nullptr,
           reinterpret_cast<const void*>(8));
  return result;
}

class TrapStacks : public testing::TestWithParam<long (*)()> {};

TEST_P(TrapStacks, ShowTheCallerToAHandlerThatLooksBack) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  struct sigaction action = {};
  action.sa_handler = look_back;
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  look_back(0);  // loads the unwinder
  const OpenedDispatch opened(Patching::never);
  ASSERT_NE(opened.backend, nullptr);
  g_seen.wanted = reinterpret_cast<std::uintptr_t>(GetParam());
  GetParam()();
  EXPECT_TRUE(g_seen.is_found) << g_seen.frames << " frames";
  EXPECT_GT(g_seen.frames, 4);
  sigaction(SIGUSR1, &before, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, TrapStacks, testing::Values(send_to_self, wait_for_signal));

TEST(TrapStacksOfOthers, KeepHandlersOursAfterTheEnd) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  static std::atomic<std::uintptr_t> handled_at;
  handled_at = 0;
  static std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const char local = 0;
    handled_at = reinterpret_cast<std::uintptr_t>(&local);
  };
  action.sa_flags = SA_RESTART;
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  std::thread reader;
  std::atomic<std::uintptr_t> reads_at{0};
  {
    const OpenedDispatch opened(Patching::never);
    ASSERT_NE(opened.backend, nullptr);
    reader = std::thread([&] {
      char byte = 0;
      reads_at = reinterpret_cast<std::uintptr_t>(&byte);
      EXPECT_EQ(call_raw(SYS_read, reinterpret_cast<const void*>(static_cast<long>(ends[0])),
                         reinterpret_cast<long>(&byte), reinterpret_cast<const void*>(1)),
                1);
    });
    while (reads_at == 0) std::this_thread::yield();
    usleep(20'000);  // until it waits; if it does not yet, the test proves less
  }
  pthread_kill(reader.native_handle(), SIGUSR1);
  while (handled_at == 0) std::this_thread::yield();
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  reader.join();
  sigaction(SIGUSR1, &before, nullptr);
  for (const int end : ends) close(end);
  // On the stack of its thread.
  EXPECT_LT(handled_at, reads_at);
  EXPECT_LT(reads_at - handled_at, std::uintptr_t{64} << 10);
}

}  // namespace
}  // namespace syscost::dispatch
