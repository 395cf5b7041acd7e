// SPDX-License-Identifier: MIT
//
// Tests of known purpose for column `peak_mapped_bytes`. The first one maps more than all others together, so the mark
// of the process (VmPeak) says nothing about these. Each name ends with the peak in MiB.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <string_view>
#include <thread>

#include "syscost/loop.h"

namespace {

constexpr std::size_t kMebibyte = 1U << 20;
constexpr int kFirstOfOurs = 992;  // syscost's descriptors, if the process may have 1024

char* map(std::size_t mebibytes, void* at = nullptr) {
  const int fixed = at != nullptr ? MAP_FIXED : 0;
  void* memory = mmap(at, mebibytes * kMebibyte, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

void unmap(char* memory, std::size_t mebibytes) {
  munmap(memory, mebibytes * kMebibyte);
}

TEST(MappedPeak, First1024) {
  char* const memory = map(1024);
  ASSERT_NE(memory, nullptr);
  unmap(memory, 1024);
}

TEST(MappedPeak, Nothing0) {}

TEST(MappedPeak, UnmapsBetween48) {
  for (int i = 0; i < 3; ++i) {
    char* const first = map(32);
    char* const second = map(16);
    unmap(first, 32);
    unmap(second, 16);
  }
}

TEST(MappedPeak, Replaces64) {
  char* const memory = map(64);
  EXPECT_EQ(map(16, memory + 8 * kMebibyte), memory + 8 * kMebibyte);
  unmap(memory, 64);
}

TEST(MappedPeak, UnmapsAHoleTwice64) {
  char* const memory = map(64);
  unmap(memory + 16 * kMebibyte, 32);
  unmap(memory + 16 * kMebibyte, 32);
  char* const more = map(32);
  unmap(memory, 64);
  unmap(more, 32);
}

TEST(MappedPeak, Moves40) {
  char* const memory = map(8);
  void* const moved = mremap(memory, 8 * kMebibyte, 40 * kMebibyte, MREMAP_MAYMOVE);
  ASSERT_NE(moved, MAP_FAILED);
  unmap(static_cast<char*>(moved), 40);
}

TEST(MappedPeak, Breaks24) {
  void* const before = sbrk(24 * kMebibyte);
  ASSERT_NE(before, reinterpret_cast<void*>(-1));
  ASSERT_EQ(brk(before), 0);
}

TEST(MappedPeak, Leaves12) {
  ASSERT_NE(map(12), nullptr);
}

TEST(MappedPeak, OfAnotherThread72) {
  // Its stack is a mapping, too, of a size that the test knows.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 8 * kMebibyte);
  pthread_attr_setguardsize(&attributes, 0);
  pthread_t thread{};
  const auto body = [](void*) -> void* {
    unmap(map(64), 64);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(MappedPeak, FailsToMap0) {
  EXPECT_EQ(mmap(nullptr, 0, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
}

/// No argument says how much io_setup maps: some pages of events, which io_destroy unmaps again.
TEST(MappedPeak, OfAnIoContext) {
  unsigned long context = 0;
  if (syscall(SYS_io_setup, 60000, &context) != 0) GTEST_SKIP() << "io_setup fails here";
  syscall(SYS_io_destroy, context);
}

/// Asked before the first test, in a process of its own: without IA-32 emulation `int $0x80` is a fault.
const bool kHasOldAbi = [] {
  const pid_t child = fork();
  if (child == 0) {
    constexpr long kGetpid = 20;
    long result = 0;
    asm volatile("int $0x80" : "=a"(result) : "a"(kGetpid) : "memory", "r8", "r9", "r10", "r11");
    _exit(0);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}();

/// mmap2 by int $0x80: dispatch does not know the length of such a call.
TEST(MappedPeak, OfTheOldAbi) {
  if (!kHasOldAbi) GTEST_SKIP() << "the kernel has no calls of the old ABI";
  constexpr long kMmap2 = 192;
  constexpr long kBytes = 32 * kMebibyte;
  long result = 0;
  // The stack is moved beyond the red zone; ebp is the offset in the file.
  asm volatile("lea -128(%%rsp), %%rsp; push %%rbp; xor %%ebp, %%ebp; int $0x80; pop %%rbp; lea 128(%%rsp), %%rsp"
               : "=a"(result)
               : "a"(kMmap2), "b"(0L), "c"(kBytes), "d"(static_cast<long>(PROT_NONE)),
                 "S"(static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)), "D"(-1L)
               : "memory", "r8", "r9", "r10", "r11");
  const auto address = static_cast<unsigned>(result);
  if (address >= 0xffff'f001U) GTEST_SKIP() << "the kernel has no calls of the old ABI";
  munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), kBytes);
}

/// The memory that a loop maps is not the test's.
TEST(MappedPeak, ExcludesALoop) {
  for (auto cycle : syscost::Loop("maps")) unmap(map(4), 4);
}

TEST(MappedPeakOfOdd, DISABLED_ClosesAllDescriptors) {
  unmap(map(16), 16);
  for (int descriptor = 3; descriptor < 65536; ++descriptor) close(descriptor);
  // A file that is no number, at each number that ours may have had.
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (int descriptor = kFirstOfOurs; descriptor < kFirstOfOurs + 8; ++descriptor) dup2(zeros, descriptor);
  unmap(map(16), 16);
}

TEST(MappedPeakOfOdd, DISABLED_After16) {
  unmap(map(16), 16);
}

/// A file takes the number of each of our descriptors, and looks like what is read there.
TEST(MappedPeakOfOdd, DISABLED_AnotherFileOnOurNumbers) {
  const int file = memfd_create("statm", MFD_CLOEXEC);
  const std::string_view text = "99999999 1 2 3 0 5 0\n";
  ASSERT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::map<int, int> kept;
  for (int descriptor = kFirstOfOurs; descriptor < kFirstOfOurs + 8; ++descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) continue;
    kept[descriptor] = copy;
    dup2(file, descriptor);
  }
  unmap(map(16), 16);
  for (const auto& [descriptor, copy] : kept) {
    dup3(copy, descriptor, O_CLOEXEC);
    close(copy);
  }
  close(file);
}

/// A worker installs a filter for itself, and maps memory in the next test.
std::thread g_worker;
std::promise<void> g_maps;

void install_filter_that_kills_for_reads() {
  std::array<sock_filter, 4> code = {{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 1),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(MappedPeakOfWorker, DISABLED_InstallsAFilter) {
  std::promise<void> installed;
  g_worker = std::thread([&installed] {
    install_filter_that_kills_for_reads();
    installed.set_value();
    g_maps.get_future().wait();
    unmap(map(16), 16);
  });
  installed.get_future().wait();
}

TEST(MappedPeakOfWorker, DISABLED_MapsUnderIt) {
  g_maps.set_value();
  g_worker.join();
}

/// A filter that kills for pread64, which the program does not make.
TEST(MappedPeakOfOdd, DISABLED_ForbidsReads) {
  unmap(map(16), 16);
  install_filter_that_kills_for_reads();
  unmap(map(16), 16);
}

TEST(MappedPeakOfOdd, DISABLED_UnderTheFilter) {
  unmap(map(16), 16);
}

}  // namespace
