// SPDX-License-Identifier: MIT
#include "core/syscall_table.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <algorithm>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <unordered_set>

namespace syscost {
namespace {

TEST(SyscallTable, NamesWhatThisMachineCallsBySysSyscallH) {
  EXPECT_EQ(syscall_name({Abi::x86_64, SYS_read}), "read");
  EXPECT_EQ(syscall_name({Abi::x86_64, SYS_openat}), "openat");
  EXPECT_EQ(syscall_name({Abi::x86_64, SYS_clone3}), "clone3");
  EXPECT_EQ(syscall_name({Abi::x86_64, SYS_futex_waitv}), "futex_waitv");
}

TEST(SyscallTable, NamesCallsOfKernelsNewerThanTheHeaders) {
  EXPECT_EQ(syscall_name({Abi::x86_64, 335}), "uretprobe");
  EXPECT_EQ(syscall_name({Abi::x86_64, 452}), "fchmodat2");
  EXPECT_EQ(syscall_name({Abi::x86_64, 469}), "file_setattr");
}

TEST(SyscallTable, TellsTheSameNumberOfDifferentAbisApart) {
  EXPECT_EQ(syscall_name({Abi::x86_64, 4}), "stat");
  EXPECT_EQ(syscall_name({Abi::i386, 4}), "i386:write");
  EXPECT_EQ(syscall_name({Abi::x32, 1}), "x32:write");
  EXPECT_EQ(syscall_name({Abi::x32, 520}), "x32:execve");
}

TEST(SyscallTable, PrintsNumbersWithoutANameByNumber) {
  EXPECT_EQ(syscall_name({Abi::x86_64, 400}), "syscall_400");  // a hole
  EXPECT_EQ(syscall_name({Abi::x86_64, 100'000}), "syscall_100000");
  EXPECT_EQ(syscall_name({Abi::i386, 5000}), "i386:syscall_5000");
  EXPECT_EQ(syscall_name(kUnknownSyscall), "unknown");
}

TEST(SyscallTable, ReadsBackEveryNameItPrints) {
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    for (std::uint32_t number = 0; number < 600; ++number) {
      SyscallId id{static_cast<Abi>(abi), number};
      EXPECT_EQ(parse_syscall_name(syscall_name(id)), id) << syscall_name(id);
    }
  }
  EXPECT_EQ(parse_syscall_name("unknown"), kUnknownSyscall);
}

TEST(SyscallTable, RefusesNamesThatNothingHas) {
  for (const char* name : {"", "wriet", "i386:", "i386:openatt", "syscall_", "syscall_x", "syscall_1x", "syscall_-1",
                           "syscall_99999999999", "write ", "Write"}) {
    EXPECT_EQ(parse_syscall_name(name), std::nullopt) << name;
  }
}

TEST(SyscallTable, HoldsEachNameOncePerAbi) {
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    std::set<std::string_view> seen;
    for (const SyscallTableEntry& entry : syscall_table(static_cast<Abi>(abi))) {
      if (!entry.name.empty()) {
        EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
      }
    }
    EXPECT_GT(seen.size(), 350U);
  }
}

TEST(SyscallTable, KnowsMembersOfEachClass) {
  auto list = [](std::string_view name) { return class_list(*parse_syscall_name(name)); };
  EXPECT_EQ(list("openat"), "file;desc");
  EXPECT_EQ(list("write"), "desc");
  EXPECT_EQ(list("connect"), "network");
  EXPECT_EQ(list("sendfile"), "desc;network");
  EXPECT_EQ(list("mmap"), "desc;memory;volatile");
  EXPECT_EQ(list("mlock"), "memory");
  EXPECT_EQ(list("execve"), "file;process");
  EXPECT_EQ(list("kill"), "process;signal");
  EXPECT_EQ(list("rt_sigaction"), "signal");
  EXPECT_EQ(list("futex"), "wait;volatile");
  EXPECT_EQ(list("wait4"), "process;wait");
  EXPECT_EQ(list("epoll_wait"), "desc;wait;volatile");
  EXPECT_EQ(list("nanosleep"), "wait;volatile");
  EXPECT_EQ(list("getrandom"), "volatile");
  EXPECT_EQ(list("rseq"), "volatile");  // a new thread's, when it first runs
  EXPECT_EQ(list("set_robust_list"), "volatile");
  EXPECT_EQ(list("sched_yield"), "volatile");
  EXPECT_EQ(list("getpid"), "");
  EXPECT_EQ(list("i386:socketcall"), "desc;network");
  EXPECT_EQ(list("fchmodat2"), "file;desc");
}

TEST(SyscallTable, HasMembersForEachClass) {
  for (const ClassName& known : kSyscallClasses) {
    const auto table = syscall_table(kNativeAbi);
    EXPECT_TRUE(
        std::any_of(table.begin(), table.end(), [&](const auto& entry) { return overlaps(entry.classes, known.bit); }))
        << known.word << ": add its syscalls to CLASSES in tools/gen_syscall_table.py, then ./dev update tables";
  }
}

TEST(SyscallTable, GivesNumbersWithoutANameNoClass) {
  EXPECT_EQ(class_list({Abi::x86_64, 400}), "");
  EXPECT_EQ(class_list(kUnknownSyscall), "");
}

TEST(SyscallTable, ClassifiesANameAlikeOnEveryAbi) {
  for (const SyscallTableEntry& entry : syscall_table(kNativeAbi)) {
    for (Abi abi : {Abi::i386, Abi::x32}) {
      std::optional<SyscallId> namesake = entry.name.empty() ? std::nullopt : find_syscall(abi, entry.name);
      if (!namesake) continue;
      EXPECT_EQ(syscall_classes(*namesake), entry.classes) << entry.name;
    }
  }
}

TEST(SyscallId, ReadsTheX32BitOutOfTheNumber) {
  EXPECT_EQ(syscall_id_x86_64(1), (SyscallId{Abi::x86_64, 1}));
  EXPECT_EQ(syscall_id_x86_64(0x4000'0000 + 520), (SyscallId{Abi::x32, 520}));
  EXPECT_EQ(syscall_id_x86_64(~std::uint64_t{0}), kUnknownSyscall);
  EXPECT_EQ(syscall_id_x86_64(0x8000'0000), kUnknownSyscall);
}

TEST(SyscallId, OrdersByAbiThenNumberAndHashesApart) {
  EXPECT_LT((SyscallId{Abi::x86_64, 9}), (SyscallId{Abi::i386, 1}));
  EXPECT_LT((SyscallId{Abi::i386, 1}), (SyscallId{Abi::i386, 2}));
  std::unordered_set<SyscallId> set{{Abi::x86_64, 1}, {Abi::i386, 1}, {Abi::x86_64, 1}};
  EXPECT_EQ(set.size(), 2U);
}

TEST(SyscallTable, IsWhatItsGeneratorWrites) {
  if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "python3 does not run here: install python3";
  if (!std::filesystem::exists("/usr/include/x86_64-linux-gnu/asm/unistd_64.h") &&
      !std::filesystem::exists("/usr/include/asm/unistd_64.h")) {
    GTEST_SKIP() << "the kernel's x86 headers are not here: install linux-libc-dev";
  }
  std::string root = SYSCOST_SOURCE_ROOT;
  std::string command =
      "python3 '" + root + "/tools/gen_syscall_table.py' --check --out '" + root + "/plugin/src/core/tables' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> piece;
  while (std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe)) output.append(piece.data(), size);
  int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output;
}

}  // namespace
}  // namespace syscost
