// SPDX-License-Identifier: MIT
//
// A call reads as strace prints it.
#include "arguments/call_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <initializer_list>
#include <string>
#include <vector>

namespace syscost {
namespace {

CallEvent call(long number, std::initializer_list<long> arguments, long result = 0,
               std::vector<CallEvent::Text> texts = {}) {
  CallEvent event;
  event.id = {Abi::x86_64, static_cast<std::uint32_t>(number)};
  event.has_arguments = true;
  std::size_t i = 0;
  for (const long argument : arguments) event.arguments.at(i++) = static_cast<std::uint64_t>(argument);
  event.result = result;
  event.latency_ns = 1;
  event.texts = std::move(texts);
  return event;
}

std::string text_of(const CallEvent& event) {
  std::string text;
  for (const ArgumentText& argument : argument_texts(event)) text += (text.empty() ? "" : ", ") + argument.text;
  return text + " = " + result_text(event);
}

TEST(CallText, NamesFlagsAndChoices) {
  EXPECT_EQ(text_of(call(SYS_openat, {AT_FDCWD, 0x1000, O_WRONLY | O_CREAT | O_CLOEXEC, 0644}, 3,
                         {{1, "/tmp/a \"b\"\n", false}})),
            "AT_FDCWD, \"/tmp/a \\\"b\\\"\\n\", O_WRONLY|O_CREAT|O_CLOEXEC, 0644 = 3");
  EXPECT_EQ(text_of(call(SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}, 0x7000)),
            "NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0 = 0x7000");
  EXPECT_EQ(text_of(call(SYS_mprotect, {0x7000, 4096, PROT_NONE})), "0x7000, 4096, PROT_NONE = 0");
  EXPECT_EQ(text_of(call(SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}, 4)),
            "AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0 = 4");
  EXPECT_EQ(text_of(call(SYS_socket, {AF_INET, SOCK_DGRAM, 0}, 4)), "AF_INET, SOCK_DGRAM, IPPROTO_IP = 4");
  EXPECT_EQ(text_of(call(SYS_kill, {12, SIGTERM})), "12, SIGTERM = 0");
  EXPECT_EQ(text_of(call(SYS_lseek, {3, -1, SEEK_END}, 7)), "3, -1, SEEK_END = 7");
}

TEST(CallText, LeavesOutWhatTheKernelDoesNotRead) {
  EXPECT_EQ(text_of(call(SYS_openat, {AT_FDCWD, 0, O_RDONLY, 0xdead}, -EFAULT)),
            "AT_FDCWD, NULL, O_RDONLY = -1 EFAULT (Bad address)");
  EXPECT_EQ(text_of(call(SYS_fcntl, {3, F_GETFL, 0xdead}, O_RDWR)), "3, F_GETFL = 0x2 (flags O_RDWR)");
  EXPECT_EQ(text_of(call(SYS_fcntl, {3, F_SETFD, FD_CLOEXEC})), "3, F_SETFD, FD_CLOEXEC = 0");
  EXPECT_EQ(text_of(call(SYS_futex, {0x1000, FUTEX_WAKE_PRIVATE, 1, 9, 9, 9}, 1)), "0x1000, FUTEX_WAKE_PRIVATE, 1 = 1");
  EXPECT_EQ(text_of(call(SYS_mremap, {0x7000, 4096, 8192, MREMAP_MAYMOVE, 9}, 0x8000)),
            "0x7000, 4096, 8192, MREMAP_MAYMOVE = 0x8000");
  EXPECT_EQ(text_of(call(SYS_mremap, {0x7000, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, 0x8000}, 0x8000)),
            "0x7000, 4096, 4096, MREMAP_MAYMOVE|MREMAP_FIXED, 0x8000 = 0x8000");
  EXPECT_EQ(text_of(call(SYS_prctl, {PR_GET_NAME, 0x7000, 9, 9, 9})), "PR_GET_NAME, 0x7000 = 0");
}

TEST(CallText, EscapesBytesAsStraceDoes) {
  EXPECT_EQ(quoted("\x01\xff", false), "\"\\1\\377\"");
  EXPECT_EQ(quoted("\x01"
                   "7",
                   false),
            "\"\\0017\"")
      << "a digit after it would be read as a part";
}

TEST(CallText, NamesAnIoctlAsTheDriverOfItsDevice) {
  add_request_namer([](const CallDetail& detail, const DeviceName& /*device*/) -> RequestNames {
    if (detail.major() != 4000) return {};
    return {"card7", detail.has_command ? "RM_ALLOC COMPUTE" : "0xc020462a"};
  });
  CallEvent event = call(SYS_ioctl, {1, 0xc020462a, 0x10});
  event.id.detail.file = FileKind::character_device;
  event.id.detail.device = 4000U << 20;
  EXPECT_EQ(text_of(event), "1, _IOC(_IOC_READ|_IOC_WRITE, 0x46, 0x2a, 0x20), 0x10 = 0") << "a request without a name";
  event.id.detail.has_command = true;
  EXPECT_EQ(text_of(event), "1, RM_ALLOC COMPUTE /* card7 */, 0x10 = 0");
}

TEST(CallText, ShowsNumbersWithoutANameAsNumbers) {
  EXPECT_EQ(text_of(call(SYS_openat, {5, 0x1000, 0x4000'0001})), "5, 0x1000, O_WRONLY|0x40000000 = 0");
  EXPECT_EQ(text_of(call(SYS_kill, {1, 40})), "1, 40 = 0");
  EXPECT_EQ(text_of(call(SYS_ioctl, {1, TCGETS, 0})), "1, TCGETS, 0 = 0");
  EXPECT_EQ(text_of(call(SYS_ioctl, {1, 0xc020462a, 0x10})),
            "1, _IOC(_IOC_READ|_IOC_WRITE, 0x46, 0x2a, 0x20), 0x10 = 0");
  EXPECT_EQ(text_of(call(SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0}, 9)),
            "CLONE_VM|CLONE_VFORK|SIGCHLD, 0, NULL, NULL, 0 = 9");
}

TEST(CallText, UsesOnlyTheBitsThatTheKernelUses) {
  EXPECT_EQ(text_of(call(SYS_close, {0x1'0000'0003})), "3 = 0");
  EXPECT_EQ(text_of(call(SYS_dup2, {0x1'0000'0003, -1}, -EBADF)), "3, -1 = -1 EBADF (Bad file descriptor)");
}

TEST(CallText, SaysWhatItDoesNotHave) {
  CallEvent i386 = call(4, {1, 2, 3}, -EBADF);
  i386.id.abi = Abi::i386;
  i386.has_arguments = false;
  EXPECT_EQ(text_of(i386), "? = -1 EBADF (Bad file descriptor)");
  CallEvent returning = call(SYS_rt_sigreturn, {});
  returning.latency_ns.reset();
  EXPECT_EQ(result_text(returning), "?");
}

}  // namespace
}  // namespace syscost
