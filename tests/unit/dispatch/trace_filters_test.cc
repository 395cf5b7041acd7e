// SPDX-License-Identifier: MIT
//
// The strings of a trace beside seccomp filters: a filter may kill the process for the call that copies them.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "traced.h"

namespace syscost::dispatch {
namespace {

/// From now on the filter answers `number` with `answer`.
bool install_filter(long number, std::uint32_t answer) {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog filter = {4, program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

class TraceFiltersTest : public TraceTest {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
  }
  /// The path of an access to /dev/null; "-" if the event has none.
  std::string path_of_access() {
    const std::vector<CallEvent> events = events_of([] { syscall(SYS_access, "/dev/null", R_OK); });
    return events.size() != 1 ? "no event" : events[0].texts.empty() ? "-" : events[0].texts[0].text;
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, TraceFiltersTest, testing::Values(Patching::allowed, Patching::never), way_name);

/// In a child, because a filter stays.
template <class Body>
void expect_in_child(Body body) {
  EXPECT_EXIT(_exit(body() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_P(TraceFiltersTest, CopiesNothingAfterTheProgramHasInstalledAFilter) {
  expect_in_child([&] {
    open();
    if (path_of_access() != "/dev/null") return false;
    if (!install_filter(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS)) return false;
    return path_of_access() == "-";
  });
}

/// The same by `int $0x80`, for which all addresses have 32 bits. False if the kernel has no such calls.
bool install_filter_by_int80(long number, std::uint32_t answer) {
  struct Program {
    std::uint16_t length;
    std::uint32_t filter;
  };
  void* low = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return false;
  auto* filter = static_cast<sock_filter*>(low);
  auto* program = reinterpret_cast<Program*>(filter + 4);
  filter[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
  filter[1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
  filter[2] = BPF_STMT(BPF_RET | BPF_K, answer);
  filter[3] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  *program = {4, static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(filter))};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  constexpr long kSeccomp32 = 354;
  long result = kSeccomp32;
  asm volatile("int $0x80" : "+a"(result) : "b"(SECCOMP_SET_MODE_FILTER), "c"(0), "d"(program) : "memory");
  return static_cast<std::int32_t>(result) == 0;
}

TEST_P(TraceFiltersTest, CopiesNothingAfterAFilterThatA32BitCallHasInstalled) {
  constexpr int kNoSuchCalls = 3;
  EXPECT_EXIT(
      {
        open();
        const std::vector<CallEvent> events = events_of([] {
          if (!install_filter_by_int80(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS)) _exit(kNoSuchCalls);
          syscall(SYS_access, "/dev/null", R_OK);
        });
        const CallEvent* access = find(events, SYS_access);
        _exit(access != nullptr && access->texts.empty() ? 0 : 1);
      },
      [](int status) { return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kNoSuchCalls); },
      "");
}

TEST_P(TraceFiltersTest, CopiesNothingWhileAFilterIsInstalled) {
  expect_in_child([&] {
    open();
    const std::vector<CallEvent> events = events_of([&] {
      std::atomic<bool> ends{false};
      std::thread calling([&] {
        while (!ends) syscall(SYS_access, "/dev/null", R_OK);
      });
      sock_filter program[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      sock_fprog filter = {4, program};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) _exit(2);
      ends = true;
      calling.join();
    });
    return !events.empty();
  });
}

TEST_P(TraceFiltersTest, AnInheritedFilterThatKillsForTheCopyLeavesAddresses) {
  expect_in_child([&] {
    if (!install_filter(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS)) return false;
    open();
    return path_of_access() == "-" && opened_->backend->remark().find("a seccomp filter kills") != std::string::npos;
  });
}

TEST_P(TraceFiltersTest, AnInheritedFilterThatDeniesTheCopyLeavesAddresses) {
  expect_in_child([&] {
    if (!install_filter(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM)) return false;
    open();
    return path_of_access() == "-" &&
           opened_->backend->remark().find("process_vm_readv fails: Operation not permitted") != std::string::npos;
  });
}

TEST_P(TraceFiltersTest, CopiesUnderAnInheritedFilterThatAllowsIt) {
  expect_in_child([&] {
    if (!install_filter(SYS_acct, SECCOMP_RET_KILL_PROCESS)) return false;
    open();
    return path_of_access() == "/dev/null" && opened_->backend->remark().find("addresses") == std::string::npos;
  });
}

TEST_P(TraceFiltersTest, AnErrorThatAFilterMayHaveGivenShowsNothing) {
  expect_in_child([&] {
    if (!install_filter(SYS_access, SECCOMP_RET_ERRNO | EACCES)) return false;
    open();
    return path_of_access() == "-";
  });
}

TEST_P(TraceFiltersTest, BelievesNoResultThatAFilterGives) {
  expect_in_child([&] {
    if (!install_filter(SYS_access, SECCOMP_RET_ERRNO)) return false;  // 0: success
    open();
    char* page = page_before_a_hole();
    const std::vector<CallEvent> events = events_of([&] {
      syscall(SYS_access, page + 4096, R_OK);
      syscall(SYS_faccessat, AT_FDCWD, "/dev/null", R_OK);
    });
    return events.size() == 2 && events[0].result == 0 && events[0].texts.empty() && events[1].texts.size() == 1 &&
           events[1].texts[0].text == "/dev/null";
  });
}

}  // namespace
}  // namespace syscost::dispatch
