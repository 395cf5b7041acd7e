// SPDX-License-Identifier: MIT
//
// Call stacks as they are counted: by their callers, in code that goes and comes, and at their limits.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "../sanitized.h"
#include "backends/dispatch/stub/common/state.h"
#include "call_stacks.h"
#include "extras/where/stub/common/where.h"

namespace syscost::dispatch {
namespace {

INSTANTIATE_TEST_SUITE_P(PatchedAndTrapped, CallStacksTest, testing::Values(Patching::allowed, Patching::never));

__attribute__((noinline)) void call() {
  syscall(kNumber);
  asm volatile("" : : : "memory");
}

TEST_P(CallStacksTest, CountEachCallOnceWithItsError) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
  WindowBook book(backend(), quiet_memory());
  WindowBook::Window* window = book.open(Reach::process);
  for (int i = 0; i < 100; ++i) {
    syscall(SYS_close, -1);
    if (i % 2 == 0) syscall(SYS_close, -1);
  }
  detail::CostData cost(&quiet_memory());
  book.close(window, cost);
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::size_t stacks = 0;
  for (const auto& [id, tally] : cost.table) {
    if (id.number != SYS_close) continue;
    ++stacks;
    calls += tally.calls;
    errors += tally.errors.count(EBADF);
    EXPECT_EQ(tally.latency.count(), tally.calls);
  }
  EXPECT_EQ(calls, 150U);
  EXPECT_EQ(errors, 150U);
  EXPECT_EQ(stacks, 2U);
}

/// Each expansion is a caller of its own, with the same stack pointer.
template <int kCaller>
__attribute__((noinline)) void call_from() {
  syscall(kNumber);
  asm volatile("" : : "i"(kCaller) : "memory");
}

TEST_P(CallStacksTest, TellMoreCallersApartThanAreKept) {
  const Counted counted = count_by_stack(backend(), [] {
    for (int i = 0; i < 100; ++i) {
      call_from<0>();
      call_from<1>();
      call_from<2>();
      if (i % 2 == 0) call_from<3>();
      if (i % 4 == 0) call_from<4>();
      if (i % 5 == 0) call_from<5>();
      call_from<0>();
    }
  });
  EXPECT_EQ(counted.with_stack, counted.calls);
  std::multiset<std::uint64_t> calls;
  for (const auto& [stack, count] : counted.by_stack) calls.insert(count);
  EXPECT_EQ(calls, (std::multiset<std::uint64_t>{20, 25, 50, 100, 100, 100, 100}));
}

TEST_P(CallStacksTest, HaveAPathAndABuildIdForEachModule) {
  const Counted counted = count_by_stack(backend(), call);
  ASSERT_EQ(counted.by_stack.size(), 1U);
  const std::span<const StackFrame> frames = source().frames(counted.by_stack.begin()->first);
  ASSERT_GE(frames.size(), 3U);
  EXPECT_NE(source().module(frames[0].module).path.find("libc.so"), std::string::npos);
  EXPECT_EQ(source().module(frames[0].module).build_id.size(), 40U);
  EXPECT_NE(source().module(frames[1].module).path.find("call_stacks_tests"), std::string::npos);
}

TEST_P(CallStacksTest, HaveTheCallersOfAClone) {
  const Counted counted = count_by_stack(
      backend(), [] { std::thread([] {}).join(); }, SYS_clone3);
  const Counted older = counted.calls != 0 ? counted : Counted{1, 1, {}};
  for (const auto& [stack, calls] : older.by_stack) {
    EXPECT_EQ(source().end(stack), StackEnd::complete);
    EXPECT_GT(source().frames(stack).size(), 4U);
  }
}

/// Code of our own without a table: one call of getppid, and back.
constexpr unsigned char kWithoutTable[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3};

TEST_P(CallStacksTest, EndWhereThereIsNoTable) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  std::copy(std::begin(kWithoutTable), std::end(kWithoutTable), static_cast<unsigned char*>(page));
  ASSERT_EQ(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
  const Counted counted = count_by_stack(backend(), reinterpret_cast<void (*)()>(page));
  ASSERT_EQ(counted.by_stack.size(), 1U);
  EXPECT_EQ(source().end(counted.by_stack.begin()->first), StackEnd::no_unwind_information);
  EXPECT_EQ(source().frames(counted.by_stack.begin()->first).size(), 1U);
  munmap(page, 4096);
}

TEST_P(CallStacksTest, SurviveAStackPointerThatIsNone) {
  const Counted counted = count_by_stack(backend(), [] {
    long result = kNumber;
    asm volatile("mov %%rsp, %%r12\n\tmov $0x1000, %%rsp\n\tsyscall\n\tmov %%r12, %%rsp"
                 : "+a"(result)
                 :
                 : "r12", "rcx", "r11", "memory");
  });
  EXPECT_EQ(counted.calls, 1U);
}

TEST_P(CallStacksTest, LeaveVectorRegistersAlone) {
  alignas(32) std::array<std::uint64_t, 2> before{0x1122334455667788, 0x99aabbccddeeff00};
  alignas(32) std::array<std::uint64_t, 2> after{};
  const Counted counted = count_by_stack(backend(), [&] {
    long result = kNumber;  // a place that no call came from yet: unwound for the first time
    asm volatile(
        "movdqa %1, %%xmm0\n\tmovdqa %1, %%xmm15\n\tsyscall\n\tpxor %%xmm1, %%xmm1\n\tpor %%xmm15, %%xmm1\n\t"
        "pand %%xmm0, %%xmm1\n\tmovdqa %%xmm1, %2"
        : "+a"(result)
        : "m"(before), "m"(after)
        : "rcx", "r11", "xmm0", "xmm1", "xmm15", "memory");
  });
  EXPECT_EQ(counted.with_stack, 1U);
  EXPECT_EQ(before, after);
}

// ---- code that goes and comes ---------------------------------------------------------------------------------------

class Plugin {
 public:
  explicit Plugin(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {}
  ~Plugin() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  int (*function() const)() {
    return handle_ != nullptr ? reinterpret_cast<int (*)()>(dlsym(handle_, "call_from_plugin")) : nullptr;
  }

 private:
  void* handle_;
};

TEST_P(CallStacksTest, AreThoseOfTheLibraryThatIsLoadedNow) {
  std::set<std::uintptr_t> places;
  const Counted counted = count_by_stack(backend(), [&] {
    for (int round = 0; round < 3; ++round) {
      for (const char* path : {SYSCOST_TEST_PLUGIN_1, SYSCOST_TEST_PLUGIN_2, SYSCOST_TEST_PLUGIN_2}) {
        const Plugin plugin(path);
        ASSERT_NE(plugin.function(), nullptr);
        places.insert(reinterpret_cast<std::uintptr_t>(plugin.function()));
        for (int i = 0; i < 5; ++i) plugin.function()();
      }
    }
  });
  EXPECT_EQ(places.size(), 1U) << "the libraries lie at different addresses, so this test shows nothing";
  EXPECT_EQ(counted.calls, 45U);
  std::map<std::string, std::uint64_t> calls_by_library;
  for (const auto& [stack, calls] : counted.by_stack) {
    ASSERT_NE(stack, 0U);
    EXPECT_EQ(source().end(stack), StackEnd::complete);
    const std::span<const StackFrame> frames = source().frames(stack);
    ASSERT_GE(frames.size(), 3U);
    const std::string path(source().module(frames[1].module).path);
    EXPECT_EQ(std::string_view(source().module(frames[2].module).path), path);
    calls_by_library[path] += calls;
  }
  EXPECT_EQ(calls_by_library,
            (std::map<std::string, std::uint64_t>{{SYSCOST_TEST_PLUGIN_1, 15}, {SYSCOST_TEST_PLUGIN_2, 30}}));
}

// ---- limits ---------------------------------------------------------------------------------------------------------

__attribute__((noinline)) void recurse_then_call(int depth) {
  if (depth > 0) recurse_then_call(depth - 1);
  if (depth == 0) call();
  asm volatile("" : : : "memory");
}

TEST_P(CallStacksTest, EndAtTheMostFunctions) {
  const Counted counted = count_by_stack(backend(), [] {
    recurse_then_call(200);
    recurse_then_call(201);
  });
  EXPECT_EQ(counted.calls, 2U);
  // The callers beyond are not known, so both are one.
  ASSERT_EQ(counted.by_stack.size(), 1U);
  const std::uint32_t stack = counted.by_stack.begin()->first;
  EXPECT_EQ(source().end(stack), StackEnd::too_deep);
  EXPECT_EQ(source().frames(stack).size(), signal_safe::kMaxFrames);
}

__attribute__((noinline)) void call_at_each_leaf(int depth) {
  if (depth == 0) {
    syscall(kNumber);
  } else {
    call_at_each_leaf(depth - 1);
    asm volatile("" : : : "memory");
    call_at_each_leaf(depth - 1);
  }
  asm volatile("" : : : "memory");
}

// The last one: from here on there is no room for stacks.
TEST_P(CallStacksTest, BeyondTheLimitAreCountedWithoutAStack) {
  constexpr int kDepth = 16;
  constexpr std::uint64_t kLeaves = 1 << kDepth;
  static_assert(kLeaves > signal_safe::kMaxStacks);
  const std::uint64_t before = source().calls_beyond_limits();
  const Counted counted = count_by_stack(backend(), [] { call_at_each_leaf(kDepth); });
  EXPECT_EQ(counted.calls, kLeaves);
  EXPECT_GE(counted.calls - counted.with_stack, kLeaves - signal_safe::kMaxStacks);
  EXPECT_EQ(source().calls_beyond_limits() - before, counted.calls - counted.with_stack);
}

TEST_P(CallStacksTest, AreNoneWithoutTheRequest) {
  opened_.backend.reset();
  OpenedDispatch plain(GetParam());
  EXPECT_EQ(plain.backend->extension<StackSource>(), nullptr);
  const Counted counted = count_by_stack(*plain.backend, call);
  EXPECT_EQ(counted.with_stack, 0U);
  EXPECT_EQ(counted.calls, 1U);
}

}  // namespace
}  // namespace syscost::dispatch
