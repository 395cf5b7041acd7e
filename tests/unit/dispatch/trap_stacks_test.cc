// SPDX-License-Identifier: MIT
//
// Trapped calls on our own stacks: a handler that looks sees the caller, and signals are kept while a call waits.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "backends/dispatch/stub/common/state.h"
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

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* /*unused*/) {
  ++g_seen.frames;
  if (_Unwind_GetRegionStart(context) == g_seen.wanted) g_seen.is_found = true;
  return _URC_NO_REASON;
}

void look_back(int /*signal*/) {
  g_seen.is_found = false;
  g_seen.frames = 0;
  _Unwind_Backtrace(look_at_frame, nullptr);
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

// ---- what a handler finds -------------------------------------------------------------------------------------------

ucontext_t g_context;

/// By a call of libc, which may be patched.
__attribute__((noinline)) long send_to_self_by_libc() {
  return kill(getpid(), SIGUSR1);
}

using WayAndCall = std::tuple<Patching, long (*)()>;
class Interrupted : public testing::TestWithParam<WayAndCall> {};

TEST_P(Interrupted, CallsAreOverWhenTheHandlerRuns) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  struct sigaction action = {};
  action.sa_sigaction = [](int, siginfo_t*, void* context) { g_context = *static_cast<ucontext_t*>(context); };
  action.sa_flags = SA_SIGINFO;
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  OpenedDispatch opened(std::get<Patching>(GetParam()));
  ASSERT_NE(opened.backend, nullptr);
  const auto send = std::get<1>(GetParam());
  send();
  ASSERT_TRUE(opened.backend->hidden_losses().ok());  // patches what was trapped
  EXPECT_EQ(opened.count(SYS_kill, send), 1U);
  const greg_t* registers = g_context.uc_mcontext.gregs;
  EXPECT_EQ(registers[REG_RAX], 0);
  EXPECT_EQ(registers[REG_RCX], registers[REG_RIP]);
  // The instruction before is its `syscall`.
  EXPECT_EQ(*reinterpret_cast<const std::uint16_t*>(registers[REG_RIP] - 2), 0x050f);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  EXPECT_LT(here - static_cast<std::uintptr_t>(registers[REG_RSP]), 4096U);
  Dl_info where = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(registers[REG_RIP]), &where), 0);
  Dl_info libc = {};
  dladdr(reinterpret_cast<void*>(&kill), &libc);
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(send), &own);
  EXPECT_EQ(where.dli_fbase, send == send_to_self_by_libc ? libc.dli_fbase : own.dli_fbase);
  sigaction(SIGUSR1, &before, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, Interrupted,
                         testing::Combine(testing::Values(Patching::allowed, Patching::never),
                                          testing::Values(send_to_self, send_to_self_by_libc)));

// ---- a coroutine that goes on in another thread ---------------------------------------------------------------------

ucontext_t g_coroutine;
ucontext_t g_thread;
std::array<int, 2> g_ends;
std::atomic<pid_t> g_reader{0};

const signal_safe::Thread* record_of(pid_t id) {
  for (const signal_safe::Thread& one : syscost_threads) {
    if (one.id == static_cast<std::uint32_t>(id)) return &one;
  }
  return nullptr;
}

bool sleeps(pid_t id) {
  std::string line;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(id) + "/stat"), line);
  return line.find(") S") != std::string::npos;
}

TEST(Coroutines, TakeTheCallOfAPatchedSiteToAnotherThread) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  // In a thread, where libc's recv() has another call site.
  std::thread([] {
    char byte = 0;
    for (int i = 0; i < 30; ++i) EXPECT_EQ(recv(-1, &byte, 1, 0), -1);
  }).join();
  ASSERT_TRUE(opened.backend->hidden_losses().ok());  // patches what was trapped
  std::uint64_t trapped = 0;
  std::thread([&trapped] {
    trapped = syscost_state.trapped;
    recv(-1, nullptr, 0, 0);
    trapped = syscost_state.trapped - trapped;
  }).join();
  if (trapped != 0) GTEST_SKIP() << "this libc's recv() is not patched";
  struct sigaction action = {};
  action.sa_handler = [](int) { swapcontext(&g_coroutine, &g_thread); };
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, g_ends.data()), 0);
  std::vector<char> stack(std::size_t{64} << 10);
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack.data();
  g_coroutine.uc_stack.ss_size = stack.size();
  makecontext(
      &g_coroutine,
      [] {
        char local = 0;
        EXPECT_EQ(recv(g_ends[0], &local, 1, 0), 1);
        swapcontext(&g_coroutine, &g_thread);
      },
      0);
  const signal_safe::Thread* first = nullptr;
  std::uint64_t ended = 0;
  const std::uint64_t counted = opened.count(SYS_recvfrom, [&] {
    std::thread thread([] {
      g_reader = gettid();
      swapcontext(&g_thread, &g_coroutine);
    });
    while (g_reader == 0 || !sleeps(g_reader)) std::this_thread::yield();
    first = record_of(g_reader);
    pthread_kill(thread.native_handle(), SIGUSR1);
    thread.join();
    ended = first->ended;
    EXPECT_EQ(write(g_ends[1], "x", 1), 1);
    swapcontext(&g_thread, &g_coroutine);
  });
  EXPECT_EQ(first->ended, ended) << "counted in the record of a thread that has ended";
  EXPECT_GT(counted, 0U);
  for (const int end : g_ends) close(end);
  signal(SIGUSR1, SIG_DFL);
}

// ---- a thread that waits in a trapped call --------------------------------------------------------------------------

std::atomic<std::uintptr_t> g_handled_at{0};

void note_where(int /*signal*/) {
  const char local = 0;
  g_handled_at = reinterpret_cast<std::uintptr_t>(&local);
}

/// Waits in a read, and handles SIGUSR1.
class Reader {
 public:
  Reader() {
    if (pipe(ends_.data()) != 0) std::abort();
    struct sigaction action = {};
    action.sa_handler = note_where;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &before_);
  }
  ~Reader() { sigaction(SIGUSR1, &before_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void start() {
    thread_ = std::thread([this] {
      char byte = 0;
      reads_at_ = reinterpret_cast<std::uintptr_t>(&byte);
      call_raw(SYS_read, reinterpret_cast<const void*>(static_cast<long>(ends_[0])), reinterpret_cast<long>(&byte),
               reinterpret_cast<const void*>(1));
    });
    while (reads_at_ == 0) std::this_thread::yield();
    usleep(20'000);  // until it waits; where it does not yet, the test proves less
  }

  /// True when a handler that interrupts it now runs on the stack of its thread. Ends it.
  bool handles_on_own_stack() {
    constexpr std::uintptr_t kNear = std::uintptr_t{64} << 10;
    g_handled_at = 0;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    while (g_handled_at == 0) std::this_thread::yield();
    EXPECT_EQ(write(ends_[1], "x", 1), 1);
    thread_.join();
    for (const int end : ends_) close(end);
    return g_handled_at < reads_at_ && reads_at_ - g_handled_at < kNear;
  }

 private:
  std::array<int, 2> ends_{};
  struct sigaction before_ = {};
  std::atomic<std::uintptr_t> reads_at_{0};
  std::thread thread_;
};

TEST(TrapStacksOfOthers, KeepHandlersOursAfterTheEnd) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  Reader reader;
  {
    const OpenedDispatch opened(Patching::never);
    ASSERT_NE(opened.backend, nullptr);
    reader.start();
  }
  EXPECT_TRUE(reader.handles_on_own_stack());
}

TEST(TrapStacksOfOthersDeathTest, KeepHandlersOursWhenWeStandAside) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  auto stand_aside = [] {
    Reader reader;
    const OpenedDispatch opened(Patching::never);
    reader.start();
    sigset_t sigsys;
    sigemptyset(&sigsys);
    sigaddset(&sigsys, SIGSYS);
    close(signalfd(-1, &sigsys, 0));
    const bool is_aside = !opened.backend->hidden_losses().ok();
    std::_Exit(is_aside && reader.handles_on_own_stack() ? 0 : 1);
  };
  EXPECT_EXIT(stand_aside(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace syscost::dispatch
