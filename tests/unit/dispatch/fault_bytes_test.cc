// SPDX-License-Identifier: MIT
//
// Rules that count or limit the bytes that calls move, and rules whose calls a filter may forbid.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "faulted.h"

namespace syscost::dispatch {
namespace {

using DispatchFaultBytes = FaultedDispatch;
INSTANTIATE_TEST_SUITE_P(Ways, DispatchFaultBytes, testing::Values(Patching::allowed, Patching::never),
                         [](const auto& way) { return way.param == Patching::allowed ? "patched" : "trapped"; });

TEST_P(DispatchFaultBytes, ShortenReadsAndWrites) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  FaultRule rule = rule_for({SYS_read, SYS_write, SYS_readv, SYS_writev}, 0);
  rule.most_bytes = 3;
  const FaultId id = open(rule);
  std::array<char, 16> text{};
  EXPECT_EQ(write(ends[1], "abcdefgh", 8), 3);
  std::array<iovec, 3> parts{iovec{const_cast<char*>("12"), 2}, iovec{const_cast<char*>("34"), 2}, iovec{}};
  EXPECT_EQ(writev(ends[1], parts.data(), 2), 2);
  parts[0] = {const_cast<char*>("56789"), 5};
  EXPECT_EQ(writev(ends[1], parts.data(), 2), 3);
  EXPECT_EQ(read(ends[0], text.data(), text.size()), 3);
  injector_->close(id);
  EXPECT_EQ(read(ends[0], text.data() + 3, text.size() - 3), 5);
  EXPECT_STREQ(text.data(), "abc12567");
  close(ends[0]);
  close(ends[1]);
}

TEST_P(DispatchFaultBytes, HitOnlyCallsThatAreShortened) {
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  FaultRule rule = rule_for({SYS_write, SYS_sendmsg, SYS_getppid}, 0);
  rule.most_bytes = 3;
  const FaultId id = open(rule);
  EXPECT_EQ(write(null, "abc", 3), 3);
  EXPECT_EQ(send(ends[0], "abcdef", 6, 0), 6);  // sendto, which is not selected
  iovec part{const_cast<char*>("abcdef"), 6};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  EXPECT_EQ(sendmsg(ends[0], &message, 0), 6);
  EXPECT_EQ(error_of_getppid(), 0);
  EXPECT_EQ(injector_->counts(id).hits, 0U);
  EXPECT_EQ(write(null, "abcd", 4), 3);
  EXPECT_EQ(injector_->counts(id).hits, 1U);
  EXPECT_EQ(injector_->counts(id).matches, 4U);
  injector_->close(id);
  for (const int descriptor : {null, ends[0], ends[1]}) close(descriptor);
}

TEST_P(DispatchFaultBytes, LetCallsForNoBytesThroughOnAFullDisk) {
  const int file = memfd_create("full", MFD_CLOEXEC);
  FaultRule rule = rule_for({SYS_write, SYS_writev}, ENOSPC);
  rule.after_bytes = 0;
  const FaultId id = open(rule);
  std::array<iovec, 2> parts{iovec{const_cast<char*>("a"), 0}, iovec{const_cast<char*>("a"), 0}};
  EXPECT_EQ(write(file, "a", 0), 0);
  EXPECT_EQ(writev(file, parts.data(), 2), 0);
  EXPECT_EQ(writev(file, nullptr, 0), 0);
  EXPECT_EQ(injector_->counts(id).hits, 0U);
  parts[1].iov_len = 1;
  EXPECT_EQ(writev(file, parts.data(), 2), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(write(file, "a", 1), -1);
  EXPECT_EQ(injector_->counts(id).hits, 2U);
  injector_->close(id);
  close(file);
}

TEST_P(DispatchFaultBytes, BeginAfterSoManyBytes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  FaultRule rule = rule_for({SYS_write}, ENOSPC);
  rule.after_bytes = 10;
  const FaultId id = open(rule);
  EXPECT_EQ(write(ends[1], "abcdef", 6), 6);
  EXPECT_EQ(write(ends[1], "abcdef", 6), 4);  // as on a disk that is full
  errno = 0;
  EXPECT_EQ(write(ends[1], "ef", 2), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(injector_->counts(id).matches, 3U);
  EXPECT_EQ(injector_->counts(id).hits, 1U);
  injector_->close(id);
  close(ends[0]);
  close(ends[1]);
}

/// The kernel looks at all stretches before it moves a byte.
TEST_P(DispatchFaultBytes, LeaveCallsThatCannotSucceedToTheKernel) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(write(ends[1], "abcdefgh", 8), 8);
  FaultRule rule = rule_for({SYS_read, SYS_readv}, 0);
  rule.most_bytes = 3;
  const FaultId id = open(rule);
  std::array<char, 16> text{};
  for (const std::uint64_t bytes : {~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    std::array<iovec, 3> parts{iovec{text.data(), 2}, iovec{text.data() + 2, 2}, iovec{text.data() + 4, bytes}};
    EXPECT_EQ(readv(ends[0], parts.data(), 3), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(syscall(SYS_read, ends[0], text.data(), bytes), -1);
  }
  std::array<iovec, 2> parts{iovec{text.data(), 4}, iovec{reinterpret_cast<void*>(~std::uintptr_t{0} - 7), 8}};
  EXPECT_EQ(readv(ends[0], parts.data(), 2), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(readv(ends[0], parts.data(), 1), 3);
  injector_->close(id);
  close(ends[0]);
  close(ends[1]);
}

TEST_P(DispatchFaultBytes, CountNoResultsThatAreNoBytes) {
  const int file = memfd_create("bytes", MFD_CLOEXEC);
  FaultRule rule = rule_for({SYS_lseek, SYS_mmap, SYS_dup, SYS_write}, ENOSPC);
  rule.after_bytes = 10;
  const FaultId id = open(rule);
  EXPECT_EQ(lseek(file, 1000, SEEK_SET), 1000);
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(page, MAP_FAILED);
  const int other = dup(file);
  EXPECT_GE(other, 0);
  EXPECT_EQ(write(file, "abcdefghijkl", 12), 10);
  EXPECT_EQ(lseek(file, 0, SEEK_SET), -1);  // a disk that is full
  EXPECT_EQ(errno, ENOSPC);
  injector_->close(id);
  munmap(page, 4096);
  close(other);
  close(file);
}

TEST_P(DispatchFaultBytes, LimitCallsThatCopyInTheKernel) {
  constexpr std::size_t kBytes = 65536;
  const int from = memfd_create("from", MFD_CLOEXEC);
  const int to = memfd_create("to", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(from, kBytes), 0);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  FaultRule rule = rule_for({SYS_sendfile, SYS_splice, SYS_copy_file_range}, ENOSPC);
  rule.after_bytes = 100;
  const auto limited = [&](auto call) {
    const FaultId id = open(rule);
    const ssize_t moved = call();
    errno = 0;
    const ssize_t more = call();
    const int error = errno;
    injector_->close(id);
    EXPECT_EQ(more, -1);
    EXPECT_EQ(error, ENOSPC);
    return moved;
  };
  EXPECT_EQ(limited([&] { return sendfile(to, from, nullptr, kBytes); }), 100);
  EXPECT_EQ(limited([&] { return splice(from, nullptr, ends[1], nullptr, kBytes, 0); }), 100);
  EXPECT_EQ(limited([&] { return copy_file_range(from, nullptr, to, nullptr, kBytes, 0); }), 100);
  for (const int descriptor : {from, to, ends[0], ends[1]}) close(descriptor);
}

/// In a child, because a filter stays. The rules' own calls would kill it.
TEST_P(DispatchFaultBytes, MakeNoCallsOfTheirOwnUnderAFilterOfTheProgram) {
  const int file = memfd_create("filtered", MFD_CLOEXEC);
  const auto run = [&] {
    FaultRule of_file = rule_for({SYS_fsync}, ENOSPC);
    of_file.path = of_file.real_path = "/nowhere";
    FaultRule of_kind = rule_for({SYS_fdatasync}, ENOSPC);
    of_kind.kinds = 1U << (S_IFREG >> 12);
    FaultRule delay = rule_for({SYS_getppid}, 0);
    delay.delay_enter_ns = delay.delay_exit_ns = 1'000'000;
    FaultRule of_descriptor = rule_for({SYS_fchmod}, EIO);
    of_descriptor.descriptor = file;
    std::array<FaultId, 4> ids{};
    std::size_t count = 0;
    for (const FaultRule* rule : {&of_file, &of_kind, &delay, &of_descriptor}) {
      const Result<FaultId> id = injector_->open(*rule);
      if (!id.ok()) return 2;
      ids[count++] = id.value();
    }
    const auto killed = [](std::uint32_t number) {
      return std::array<sock_filter, 2>{sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
                                        sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS}};
    };
    std::array<sock_filter, 8> code{sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}};
    std::size_t at = 1;
    for (const std::uint32_t number : {SYS_readlink, SYS_nanosleep, SYS_fstat}) {
      for (const sock_filter& one : killed(number)) code.at(at++) = one;
    }
    code.at(at) = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    const sock_fprog filter{static_cast<unsigned short>(code.size()), code.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      return 3;
    if (fsync(file) != 0 || fdatasync(file) != 0) return 4;
    if (getppid() <= 0) return 5;
    if (fchmod(file, 0600) == 0 || errno != EIO) return 6;
    if (injector_->counts(ids[0]).filtered != 1 || injector_->counts(ids[1]).filtered != 1) return 7;
    const FaultCounts waited = injector_->counts(ids[2]);
    if (waited.hits + waited.filtered != 1) return 8;
    return injector_->open(of_file).ok() ? 9 : 0;
  };
  const pid_t child = fork();
  if (child == 0) _exit(injector_->begin_in_fork_child().ok() ? run() : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(file);
}

}  // namespace
}  // namespace syscost::dispatch
