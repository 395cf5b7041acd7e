// SPDX-License-Identifier: MIT
//
// The call stacks of --syscost_where: each stack is compared with what _Unwind_Backtrace says at the same place.
#include <alloca.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "call_stacks.h"

namespace syscost::dispatch {
namespace {

/// Return addresses, innermost first, of one marked call.
struct Truth {
  std::array<std::uintptr_t, 160> address;
  std::size_t used = 0;
};
std::array<Truth, 512> truths;
std::atomic<std::size_t> truths_used{0};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto& truth = *static_cast<Truth*>(argument);
  int is_before = 0;
  const std::uintptr_t ip = _Unwind_GetIPInfo(context, &is_before);
  // As a return address: one more than the interrupted instruction.
  if (truth.used < truth.address.size() && ip != 0) truth.address[truth.used++] = ip + (is_before != 0 ? 1 : 0);
  return _URC_NO_REASON;
}

/// The callers of this function, then one getppid with the same callers.
__attribute__((noinline)) void mark() {
  Truth& truth = truths[truths_used.fetch_add(1) % truths.size()];
  truth.used = 0;
  _Unwind_Backtrace(note_frame, &truth);
  syscall(kNumber);
  asm volatile("" : : : "memory");
}

__attribute__((noinline)) void recurse(int depth) {
  if (depth > 0) recurse(depth - 1);
  if (depth == 0) mark();
  asm volatile("" : : : "memory");
}

/// With optimisation this is a jump: the function is not on the stack.
__attribute__((noinline)) void pass_on() {
  return mark();
}

__attribute__((noinline)) void realigned(std::size_t bytes) {
  alignas(64) char aligned[64];
  auto* room = static_cast<char*>(alloca(bytes));
  asm volatile("" : : "r"(aligned), "r"(room) : "memory");
  mark();
  asm volatile("" : : "r"(aligned), "r"(room) : "memory");
}

int compare(const void* a, const void* b) {
  mark();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void handler(int /*signal*/) {
  mark();
}

__attribute__((noinline)) void raise_on_own_stack() {
  static char room[64 * 1024];
  stack_t own{};
  own.ss_sp = room;
  own.ss_size = sizeof room;
  stack_t before{};
  sigaltstack(&own, &before);
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  struct sigaction old {};
  sigaction(SIGUSR1, &action, &old);
  raise(SIGUSR1);
  action.sa_flags = 0;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &old, nullptr);
  sigaltstack(&before, nullptr);
}

sigjmp_buf place_to_go_on;
void leaving_handler(int /*signal*/) {
  mark();
  siglongjmp(place_to_go_on, 1);
}

__attribute__((noinline)) void leave_a_handler() {
  struct sigaction action {};
  action.sa_handler = leaving_handler;
  struct sigaction old {};
  sigaction(SIGUSR2, &action, &old);
  if (sigsetjmp(place_to_go_on, 1) == 0) raise(SIGUSR2);
  mark();
  sigaction(SIGUSR2, &old, nullptr);
}

__attribute__((noinline)) void catch_it() {
  try {
    throw std::runtime_error("thrown");
  } catch (const std::runtime_error&) {
    mark();
  }
}

void make_marked_calls() {
  mark();
  for (int depth : {1, 5, 40}) recurse(depth);
  pass_on();
  realigned(17);
  realigned(400);
  std::array<int, 9> numbers{5, 3, 8, 1, 9, 2, 7, 4, 6};
  std::qsort(numbers.data(), numbers.size(), sizeof(int), compare);
  [] { mark(); }();
  for (int i = 0; i < 3; ++i) raise_on_own_stack();
  leave_a_handler();
  catch_it();
  std::thread([] { recurse(3); }).join();
}

std::uintptr_t bias_of(std::string_view path) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  std::uintptr_t bias = 0;
  char line[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    const std::string text = line;
    if (text.find(path) == std::string::npos) continue;
    bias = std::strtoull(line, nullptr, 16);
    break;
  }
  std::fclose(maps);
  return bias;
}

/// The return addresses of a stack, as long as its files are loaded where their first page is.
std::vector<std::uintptr_t> addresses(const StackSource& source, std::uint32_t stack) {
  std::vector<std::uintptr_t> found;
  for (const StackFrame& frame : source.frames(stack)) {
    if (frame.module == kNoModule) {
      found.push_back(frame.offset);
    } else {
      found.push_back(bias_of(source.module(frame.module).path) + frame.offset);
    }
  }
  return found;
}

using UnwinderTruth = CallStacksTest;
INSTANTIATE_TEST_SUITE_P(PatchedAndTrapped, UnwinderTruth, testing::Values(Patching::allowed, Patching::never));

TEST_P(UnwinderTruth, IsWhatEachStackHolds) {
  mark();  // the unwinder of exceptions makes calls of its own at first
  truths_used = 0;
  const Counted counted = count_by_stack(backend(), make_marked_calls);
  EXPECT_EQ(counted.calls, truths_used.load());
  EXPECT_EQ(counted.with_stack, counted.calls);
  std::map<std::vector<std::uintptr_t>, int> expected;
  for (std::size_t i = 0; i < truths_used; ++i) {
    // From the caller of mark() on.
    expected[{truths[i].address.begin() + 1,
              truths[i].address.begin() + static_cast<std::ptrdiff_t>(truths[i].used)}]++;
  }
  std::map<std::vector<std::uintptr_t>, int> found;
  for (const auto& [stack, calls] : counted.by_stack) {
    std::vector<std::uintptr_t> frames = addresses(source(), stack);
    const StackFrame last = source().frames(stack).back();
    EXPECT_EQ(source().end(stack), StackEnd::complete)
        << frames.size() << " frames, the last is in "
        << (last.module == kNoModule ? "no file" : std::string(source().module(last.module).path)) << " at " << std::hex
        << last.offset;
    ASSERT_GE(frames.size(), 2U);
    // syscall() of libc, and mark().
    found[{frames.begin() + 2, frames.end()}] += static_cast<int>(calls);
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace syscost::dispatch
