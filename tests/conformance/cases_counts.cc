// SPDX-License-Identifier: MIT
//
// Counts and errno: the plainest questions. A backend that fails here need not try the other cases.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case.h"
#include "raw.h"
#include "syscost/syscost.h"

namespace conformance {
namespace {

int g_fd = -1;

const Register kWrite1024(Case{
    .number = 1,
    .name = "write_x1024",
    .summary = "1024 one-byte writes are 1024 calls.",
    .setup = [] { g_fd = open("/dev/null", O_WRONLY | O_CLOEXEC); },
    .windows = {{"",
                 [] { require(repeat_raw(1024, 1, SYS_write, g_fd, "x", 1), "write did not return 1"); },
                 {calls("write", 1024)}}},
});

const Register kRawInline(Case{
    .number = 2,
    .name = "inline_syscall",
    .summary = "A syscall instruction in the program's own text is counted like libc's.",
    .windows = {{"", [] { repeat_raw(10, 0, SYS_getppid); }, {calls("getppid", 10)}}},
});

const Register kLibcSyscall(Case{
    .number = 3,
    .name = "libc_syscall",
    .summary = "Calls through libc's syscall() are counted once each.",
    .windows = {{"",
                 [] {
                   for (int i = 0; i < 10; ++i) syscall(SYS_getppid);
                 },
                 {calls("getppid", 10)}}},
});

const Register kCloseBadFd(Case{
    .number = 4,
    .name = "close_bad_fd",
    .summary = "100 failing closes are 100 EBADF.",
    .windows = {{"",
                 [] { require(repeat_raw(100, -EBADF, SYS_close, -1), "close(-1) did not fail with EBADF"); },
                 {calls("close", 100).failing(EBADF, 100)}}},
});

// The kernel's convention: -4095..-1 is an error, everything else a result. lseek on /proc/self/mem takes any offset
// and returns it, which reaches both sides of the boundary.
void reach_errno_boundary() {
  void* high = reinterpret_cast<void*>(0x7ffe'0000'0000);
  long address = raw(SYS_mmap, high, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long unmapped = raw(SYS_munmap, address, 4096);
  long success = raw(SYS_lseek, g_fd, -4096, SEEK_SET);
  long error = raw(SYS_lseek, g_fd, -4095, SEEK_SET);
  require(address > 0 && unmapped == 0, "mmap near the top of the address space failed");
  require(success == -4096 && error == -4095, "lseek on /proc/self/mem did not return the offset it was given");
}

const Register kErrnoBoundary(Case{
    .number = 5,
    .name = "errno_boundary",
    .summary = "A high pointer and -4096 are results; -4095 is the last errno.",
    .setup = [] { g_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC); },
    .windows = {{"", reach_errno_boundary, {calls("mmap", 1), calls("munmap", 1), calls("lseek", 2).failing(4095, 1)}}},
});

const Register kInvalidNumber(Case{
    .number = 6,
    .name = "invalid_number",
    .summary = "Numbers without a syscall are counted separately and fail with ENOSYS.",
    .windows = {{"",
                 [] {
                   bool same = repeat_raw(3, -ENOSYS, 1'000'001);
                   same = repeat_raw(2, -ENOSYS, 400) && same;  // a hole within the table
                   require(same, "a syscall number without a syscall did not return -ENOSYS");
                 },
                 {calls("syscall_1000001", 3).failing(ENOSYS, 3), calls("syscall_400", 2).failing(ENOSYS, 2)}}},
    .needs_no_seccomp_filter = true,
});

const Register kIdle(Case{
    .number = 7,
    .name = "idle",
    .summary = "A busy loop without a syscall has no counts, however often it is preempted.",
    .windows = {{"",
                 [] {
                   volatile std::uint32_t turns = 300'000'000;
                   while (turns != 0) turns = turns - 1;
                 },
                 {}}},
});

// Everything of our own API that may run between a test's first and last line.
void use_our_own_api() {
  for (int i = 0; i < 100; ++i) {
    syscost::Scope process(syscost::Reach::process);
    syscost::Scope thread;
    syscost::Cost inner = syscost::measure([] {});
    syscost::Cost cost = thread.stop();
    if (cost.calls("%file") > 1000) problem("calls that were not made");
    process.stop();
  }
}

const Register kOwnCalls(Case{
    .number = 8,
    .name = "own_calls",
    .summary = "Opening, closing and reading nested windows adds no syscall to the outer window.",
    .setup = use_our_own_api,  // grows the heap to what the body needs: that is the allocator's business, not ours
    .windows = {{"", use_our_own_api, {}}},
    .unsupported = {{"oracle", "the body opens windows of its own"},
                    {"not linked", "the body opens windows of its own"}},
});

}  // namespace
}  // namespace conformance
