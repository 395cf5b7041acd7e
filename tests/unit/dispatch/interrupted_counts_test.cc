// SPDX-License-Identifier: MIT
//
// A call that has come back from the kernel is counted, even if a handler then interrupts the stub, at any place, and
// even if that handler does not return. The file's offset says how many calls the kernel has made.
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>

#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "opened.h"

// NOLINTBEGIN(readability-identifier-naming): places in the stub, and what it calls
extern "C" {
extern const char syscost_stub_left[];
void syscost_record();
void syscost_record_plain();
void syscost_record_observed();
}
// NOLINTEND(readability-identifier-naming)

namespace syscost::dispatch {
namespace {

constexpr std::uint64_t kTrapFlag = 0x100;

std::uint64_t address(const void* at) {
  return reinterpret_cast<std::uint64_t>(at);
}

long call_raw(long number, long a, long b, long c) {
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

enum class By {
  libc,              ///< lseek, patched by a long jump
  libc_over_bridge,  ///< read, by a short one
  own_instruction
};

struct Case {
  const char* name;
  By by;
  bool has_stacks;  ///< --syscost_where
};

/// A file in which each call moves the offset by one.
class Steps {
 public:
  explicit Steps(By by) : by_(by) {
    if (ftruncate(file_, 1 << 20) != 0) ADD_FAILURE();
  }
  ~Steps() { close(file_); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  void call() const {
    if (by_ == By::libc) {
      lseek(file_, 1, SEEK_CUR);
    } else if (by_ == By::libc_over_bridge) {
      char byte = 0;
      if (read(file_, &byte, 1) != 1) return;
    } else {
      call_raw(SYS_lseek, file_, 1, SEEK_CUR);
    }
  }
  std::uint32_t number() const { return by_ == By::libc_over_bridge ? SYS_read : SYS_lseek; }
  const void* function() const {
    return by_ == By::libc_over_bridge ? reinterpret_cast<const void*>(&read) : reinterpret_cast<const void*>(&lseek);
  }
  void rewind() const { call_raw(SYS_lseek, file_, 0, SEEK_SET); }
  std::uint64_t made() const { return static_cast<std::uint64_t>(call_raw(SYS_lseek, file_, 0, SEEK_CUR)); }

 private:
  By by_;
  int file_ = memfd_create("offset", 0);
};

/// The caller that a handler shall see when it looks back.
__attribute__((noinline)) void call_once(const Steps& steps) {
  steps.call();
  asm volatile("" : : : "memory");
}

sigjmp_buf g_jump;
int g_steps_left;
int g_hits;
bool g_watches;
bool g_leaves;
bool g_sees_caller;

void leave_at_last_step(int /*signal*/) {
  if (--g_steps_left == 0) siglongjmp(g_jump, 1);
}

_Unwind_Reason_Code look(_Unwind_Context* context, void* /*unused*/) {
  if (_Unwind_GetRegionStart(context) == address(reinterpret_cast<const void*>(&call_once))) g_sees_caller = true;
  return _URC_NO_REASON;
}

void look_back_and_leave(int /*signal*/) {
  if (!g_watches) return;
  ++g_hits;
  g_sees_caller = false;
  _Unwind_Backtrace(look, nullptr);
  if (g_leaves) siglongjmp(g_jump, 1);
}

class InterruptedCounts : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
    ASSERT_NE(opened_.backend, nullptr);
  }
  void TearDown() override { signal(SIGTRAP, SIG_DFL); }

  static void handle_traps(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    ASSERT_EQ(sigaction(SIGTRAP, &action, nullptr), 0);
  }

  template <class Body>
  std::uint64_t count(Body body) {
    steps_.rewind();
    return opened_.count(steps_.number(), body);
  }

  OpenedDispatch opened_{Patching::allowed, 0, GetParam().has_stacks};
  Steps steps_{GetParam().by};
};

TEST_P(InterruptedCounts, AreRightAfterWhicheverInstructionAHandlerLeaves) {
  handle_traps(leave_at_last_step);
  constexpr int kEnough = 2000;
  static int at = 0;  // a jump leaves it as it is
  for (at = 1; at < kEnough; ++at) {
    const std::uint64_t counted = count([&] {
      steps_.call();
      g_steps_left = at;
      if (sigsetjmp(g_jump, 1) == 0) {
        asm volatile("sub $128, %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp" ::"i"(kTrapFlag)
                     : "memory", "cc");
        steps_.call();
        asm volatile("sub $128, %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp" ::"i"(~kTrapFlag)
                     : "memory", "cc");
      }
    });
    ASSERT_EQ(counted, steps_.made()) << "left at step " << at;
    if (g_steps_left > 0) break;
  }
  EXPECT_LT(at, kEnough);
}

// ---- one instruction of ours at a time ------------------------------------------------------------------------------

/// Sends SIGTRAP before the instruction at `at` is executed, once.
class Breakpoint {
 public:
  explicit Breakpoint(std::uint64_t at) {
#ifdef PERF_ATTR_SIZE_VER7  // Linux 5.13: signals instead of samples
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.size = sizeof attributes;
    attributes.bp_type = HW_BREAKPOINT_X;
    attributes.bp_addr = at;
    attributes.bp_len = sizeof(long);
    attributes.sample_period = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.disabled = 1;
    attributes.sigtrap = 1;
    attributes.remove_on_exec = 1;
    event_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
#else
    static_cast<void>(at);
#endif
  }
  ~Breakpoint() {
    close(event_);
  }
  Breakpoint(const Breakpoint&) = delete;
  Breakpoint& operator=(const Breakpoint&) = delete;

  bool works() const {
    return event_ >= 0;
  }
  /// By a call that does not pass the stub, where the breakpoint may be.
  void wait_for_one() const {
    syscost_raw_syscall(SYS_ioctl, event_, PERF_EVENT_IOC_REFRESH, 1);
  }

 private:
  int event_ = -1;
};

/// Some virtual machines open them and never send the signal.
bool are_there_breakpoints() {
  const Breakpoint control(address(reinterpret_cast<const void*>(&call_once)));
  if (!control.works()) return false;
  g_leaves = false;
  g_watches = true;
  g_hits = 0;
  control.wait_for_one();
  call_once(Steps(By::own_instruction));
  g_watches = false;
  return g_hits == 1;
}

struct Range {
  std::uint64_t begin, end;
};

struct WayThrough {
  Range bridge, trampoline;
};

/// Where the function of libc at `function` jumps to; empty where it is not patched.
WayThrough way_from(const void* function) {
  const auto* code = static_cast<const unsigned char*>(function);
  constexpr int kNear = 16;
  constexpr unsigned char kLongJump = 0xe9;
  constexpr unsigned char kShortJump = 0xeb;
  auto trampoline_at = [](const unsigned char* jump) {
    std::int32_t distance = 0;
    __builtin_memcpy(&distance, jump + 1, sizeof distance);
    const std::uint64_t target = address(jump + 5) + static_cast<std::uint64_t>(std::int64_t{distance});
    const bool is_there = *jump == kLongJump && target - syscost_state.trampolines < syscost_state.trampolines_bytes;
    return is_there ? Range{target, target + signal_safe::kTrampolineBytes} : Range{0, 0};
  };
  for (int i = 0; i < kNear; ++i) {
    if (const Range found = trampoline_at(code + i); found.begin != 0) return {{0, 0}, found};
    const unsigned char* const bridge = code + i + 2 + static_cast<signed char>(code[i + 1]);
    if (code[i] != kShortJump) continue;
    if (const Range found = trampoline_at(bridge); found.begin != 0)
      return {{address(bridge), address(bridge) + 5}, found};
  }
  return {{0, 0}, {0, 0}};
}

TEST_P(InterruptedCounts, AreRightAtWhicheverInstructionOfOursAHandlerInterrupts) {
  _Unwind_Backtrace(look, nullptr);  // loads the unwinder
  handle_traps(look_back_and_leave);
  if (!are_there_breakpoints()) GTEST_SKIP() << "perf_event_open makes no breakpoints here";
  const auto range_of = [](void (*function)(), std::uint64_t bytes) {
    const std::uint64_t begin = address(reinterpret_cast<const void*>(function));
    return Range{begin, begin + bytes};
  };
  // Their common cases.
  const Range common =
      GetParam().has_stacks ? range_of(syscost_record_observed, 1400) : range_of(syscost_record_plain, 700);
  static int interrupted = 0;
  interrupted = 0;
  const WayThrough way = way_from(steps_.function());
  for (const bool leaves : {false, true}) {
    g_leaves = leaves;
    for (const Range& range : {way.bridge, way.trampoline, Range{address(syscost_stub), address(syscost_stub_left)},
                               range_of(syscost_record, 40), common}) {
      for (std::uint64_t at = range.begin; at < range.end; ++at) {
        const Breakpoint breakpoint(at);
        g_hits = 0;
        const std::uint64_t counted = count([&] {
          if (sigsetjmp(g_jump, 1) == 0) {
            g_watches = true;
            breakpoint.wait_for_one();
            call_once(steps_);
          }
          g_watches = false;
          steps_.call();
        });
        ASSERT_EQ(counted, steps_.made()) << "interrupted at " << std::hex << at - range.begin;
        if (g_hits == 0) continue;
        ++interrupted;
        ASSERT_TRUE(g_sees_caller) << "interrupted at " << std::hex << at - range.begin;
      }
    }
  }
  EXPECT_GT(interrupted, 200);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, InterruptedCounts,
                         testing::Values(Case{"Patched", By::libc, false},
                                         Case{"PatchedOverABridge", By::libc_over_bridge, false},
                                         Case{"Trapped", By::own_instruction, false},
                                         Case{"PatchedWithStacks", By::libc, true},
                                         Case{"TrappedWithStacks", By::own_instruction, true}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace syscost::dispatch
