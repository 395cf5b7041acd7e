// SPDX-License-Identifier: MIT
//
// The gs and fs registers: a program may set them without a syscall, and a tool that keeps something there must notice.
#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using conformance::raw;

constexpr unsigned long kFsgsbase = 2;  // HWCAP2_FSGSBASE
bool may_write_base() {
  return (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
}

alignas(64) std::uint64_t g_memory[512];

void write_base(const void* base) {
  asm volatile("wrgsbase %0" ::"r"(base) : "memory");
}
void* read_base() {
  void* base = nullptr;
  asm volatile("rdgsbase %0" : "=r"(base));
  return base;
}
void load_selector(unsigned short selector) {
  asm volatile("mov %0, %%gs" ::"r"(selector) : "memory");
}

}  // namespace

HOSTILE(gs_base_on_main_thread, 20, "sets the gs base on the main thread, without a syscall") {
  if (!may_write_base()) GTEST_SKIP() << "needs FSGSBASE";
  write_base(g_memory);
  call_both(10);
}

HOSTILE(gs_selector_on_main_thread, 20, "loads the gs selector on the main thread") {
  load_selector(0);
  call_both(10);
}

HOSTILE(gs_base_on_a_thread, 40, "a thread sets its gs base, without a syscall") {
  if (!may_write_base()) GTEST_SKIP() << "needs FSGSBASE";
  std::thread([] {
    write_base(g_memory);
    call_both(10);
  }).join();
  call_both(10);
}

HOSTILE(gs_selector_on_a_thread, 40, "a thread loads its gs selector") {
  std::thread([] {
    load_selector(0);
    call_both(10);
  }).join();
  call_both(10);
}

HOSTILE(gs_base_and_back, 20, "uses gs for itself for ten calls and puts it back") {
  if (!may_write_base()) GTEST_SKIP() << "needs FSGSBASE";
  void* before = read_base();
  write_base(g_memory);
  call_both(5);
  write_base(before);
  call_both(5);
}

HOSTILE(gs_base_nowhere, 20, "sets the gs base to an address without memory") {
  if (!may_write_base()) GTEST_SKIP() << "needs FSGSBASE";
  write_base(reinterpret_cast<void*>(0x10000));
  call_both(10);
}

HOSTILE(gs_base_into_a_copy, 20, "points gs to a copy of the memory that it pointed to") {
  if (!may_write_base()) GTEST_SKIP() << "needs FSGSBASE";
  void* before = read_base();
  if (before != nullptr) std::memcpy(g_memory, before, 512);
  write_base(before != nullptr ? g_memory : nullptr);
  call_both(10);
}

HOSTILE(gs_base_by_syscall, 20, "sets the gs base by arch_prctl, and reads it back") {
  EXPECT_EQ(raw(SYS_arch_prctl, ARCH_SET_GS, g_memory), 0);
  std::uint64_t base = 0;
  EXPECT_EQ(raw(SYS_arch_prctl, ARCH_GET_GS, &base), 0);
  EXPECT_EQ(base, reinterpret_cast<std::uint64_t>(g_memory));
  call_both(10);
}

HOSTILE(fs_base_changed, 10, "changes the fs base, which libc needs to find a thread, and makes calls") {
  if (!may_write_base()) GTEST_SKIP() << "needs FSGSBASE";
  bool same = true;
  void* before = nullptr;
  asm volatile("rdfsbase %0" : "=r"(before));
  asm volatile("wrfsbase %0" ::"r"(g_memory) : "memory");
  for (int i = 0; i < 10; ++i) same = raw(SYS_getppid) >= 0 && same;
  asm volatile("wrfsbase %0" ::"r"(before) : "memory");
  EXPECT_TRUE(same);
}

HOSTILE(forbids_time_stamps, 20,
        "disables the time-stamp counter for itself: the next read of the clock ends the process, as bare") {
  constexpr int kSet = 26;  // PR_SET_TSC, PR_TSC_SIGSEGV
  if (raw(SYS_prctl, kSet, 2, 0, 0, 0) != 0) GTEST_SKIP() << "the kernel has no PR_SET_TSC";
  call_both(10);
}
