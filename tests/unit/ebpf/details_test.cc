// SPDX-License-Identifier: MIT
//
// Details: real ioctls on devices that every machine has, told apart by file and request, and calls that move data by
// the kind of file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/random.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>

#include "details_case.h"

namespace syscost::ebpf {
namespace {

CallDetail kinds(FileKind file, FileKind to = FileKind::none) {
  return {.file = file, .to = to, .is_kind_only = true};
}

TEST_F(Details, AreNotThereUnlessAskedFor) {
  OPEN_WITH_DETAILS_OR_SKIP({});
  Fd null(open("/dev/null", O_RDWR));
  count([&] { ioctl(null, kUnknown, 0); });
  EXPECT_EQ(table_.find(kIoctl)->calls, 1U);
  EXPECT_EQ(table_.size(), 1U);
}

// The details that a pair of programs looks for are fixed when it is loaded, so that other processes pay nothing for
// them.
TEST_F(Details, ComeFromProgramsThatNoOtherProcessShares) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by());
  EXPECT_NE(backend_->arrangement().find("BPF programs of its own"), std::string::npos) << backend_->arrangement();
  EXPECT_NE(backend_->arrangement().find("--syscost_detail"), std::string::npos) << backend_->arrangement();
  Result<std::unique_ptr<Backend>> opened = open_backend();
  ASSERT_TRUE(opened.ok()) << opened.failure().reason;
  Backend& plain = *opened.value();
  Fd null(open("/dev/null", O_RDWR));
  count([&] {
    plain.boundary(Lane::kProcess, Next::kArm);
    for (unsigned long i = 0; i < 5; ++i) ioctl(null, kUnknown + i % 2, 0);
    plain.boundary(Lane::kProcess, Next::kDisarm);
  });
  EXPECT_EQ(ioctls(device(kNull, kUnknown)), 3U);
  EXPECT_EQ(ioctls(device(kNull, kUnknown + 1)), 2U);
  CallTable without(&quiet_memory());
  plain.read(Lane::kProcess, without);
  EXPECT_EQ(without.at(kIoctl).calls, 5U);
  EXPECT_EQ(without.size(), 1U);
}

TEST_F(Details, TellIoctlsApartByFileAndRequest) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by());
  Fd null(open("/dev/null", O_RDWR));
  Fd random(open("/dev/random", O_RDONLY));
  std::array<int, 2> pipes{};
  std::array<int, 2> sockets{};
  ASSERT_EQ(pipe(pipes.data()), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  Fd pipe_in(pipes[0]), pipe_out(pipes[1]), here(sockets[0]), there(sockets[1]);
  Fd file(open("/proc/self/exe", O_RDONLY));
  Fd folder(open("/", O_RDONLY | O_DIRECTORY));
  int value = 0;
  count([&] {
    for (int i = 0; i < 3; ++i) ioctl(null, TIOCGWINSZ, &value);
    ioctl(null, kUnknown, &value);
    ioctl(random, RNDGETENTCNT, &value);
    ioctl(pipe_in, FIONREAD, &value);
    ioctl(here, FIONREAD, &value);
    ioctl(file, FIONREAD, &value);
    ioctl(folder, kUnknown, &value);
    ioctl(-1, kUnknown, &value);
    ioctl(1'000'000, kUnknown, &value);
    getppid();
  });
  EXPECT_EQ(ioctls(device(kNull, TIOCGWINSZ)), 3U);
  EXPECT_EQ(table_.find({kIoctl.abi, kIoctl.number, device(kNull, TIOCGWINSZ)})->errors.count(ENOTTY), 3U);
  EXPECT_EQ(ioctls(device(kNull, kUnknown)), 1U);
  EXPECT_EQ(ioctls(device(kRandom, RNDGETENTCNT)), 1U);
  EXPECT_EQ(ioctls({.file = FileKind::pipe, .request = FIONREAD}), 1U);
  EXPECT_EQ(ioctls({.file = FileKind::socket, .request = FIONREAD}), 1U);
  EXPECT_EQ(ioctls({.file = FileKind::file, .request = FIONREAD}), 1U);
  EXPECT_EQ(ioctls({.file = FileKind::directory, .request = kUnknown}), 1U);
  EXPECT_EQ(ioctls({.file = FileKind::bad_descriptor, .request = kUnknown}), 2U);
  EXPECT_EQ(all_ioctls(), 11U);
  EXPECT_EQ(table_.find({Abi::x86_64, SYS_getppid})->calls, 1U);
}

TEST_F(Details, TellCallsThatMoveDataApartByTheKindOfFile) {
  DetailRequest files;
  files.files = true;
  OPEN_WITH_DETAILS_OR_SKIP(files);
  std::array<int, 2> pipes{};
  std::array<int, 2> sockets{};
  ASSERT_EQ(pipe(pipes.data()), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  Fd pipe_in(pipes[0]), pipe_out(pipes[1]), here(sockets[0]), there(sockets[1]);
  Fd null(open("/dev/null", O_RDWR));
  Fd terminal(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  Fd file(open("/proc/self/exe", O_RDONLY));
  Fd folder(open("/", O_RDONLY | O_DIRECTORY));
  Fd event(eventfd(1, EFD_NONBLOCK));
  Fd memory(memfd_create("details", 0));
  std::array<char, 100> data{};
  long sent = 0;
  count([&] {
    write(null, data.data(), 7);
    write(pipe_out, data.data(), 30);
    read(pipe_in, data.data(), 20);
    read(file, data.data(), 40);
    pread(file, data.data(), 2, 0);
    read(folder, data.data(), 1);
    read(-1, data.data(), 1);
    read(event, data.data(), 8);
    write(memory, data.data(), 50);
    write(terminal, nullptr, 0);
    send(here, data.data(), 60, 0);
    recv(there, data.data(), 60, 0);
    off_t at = 0;
    sent = sendfile(here, file, &at, 70);
    splice(pipe_in, nullptr, null, nullptr, 10, 0);
    ioctl(null, kUnknown, 0);
    getppid();
  });
  const auto of = [&](long number, const CallDetail& detail) {
    const Tally* tally = table_.find({Abi::x86_64, static_cast<std::uint32_t>(number), detail});
    return tally == nullptr || tally->calls != 1 ? -1 : static_cast<std::int64_t>(tally->bytes);
  };
  EXPECT_EQ(of(SYS_write, kinds(FileKind::character_device)), 7);
  EXPECT_EQ(of(SYS_write, kinds(FileKind::pipe)), 30);
  EXPECT_EQ(of(SYS_read, kinds(FileKind::pipe)), 20);
  EXPECT_EQ(of(SYS_read, kinds(FileKind::file)), 40);
  EXPECT_EQ(of(SYS_pread64, kinds(FileKind::file)), 2);
  EXPECT_EQ(of(SYS_read, kinds(FileKind::directory)), 0);
  EXPECT_EQ(of(SYS_read, kinds(FileKind::bad_descriptor)), 0);
  EXPECT_EQ(of(SYS_read, kinds(FileKind::other)), 8);
  EXPECT_EQ(of(SYS_write, kinds(FileKind::file)), 50);
  EXPECT_EQ(of(SYS_write, kinds(FileKind::terminal)), 0);
  EXPECT_EQ(of(SYS_sendto, kinds(FileKind::socket)), 60);
  EXPECT_EQ(of(SYS_recvfrom, kinds(FileKind::socket)), 60);
  EXPECT_EQ(sent, 70);
  EXPECT_EQ(of(SYS_sendfile, kinds(FileKind::file, FileKind::socket)), 70);
  EXPECT_EQ(of(SYS_splice, kinds(FileKind::pipe, FileKind::character_device)), 10);
  EXPECT_EQ(of(SYS_ioctl, {}), 0) << "not asked for";
  EXPECT_EQ(of(SYS_getppid, {}), 0);
  EXPECT_EQ(table_.size(), 16U);
}

TEST_F(Details, TellAnEventDescriptorFromAFile) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by());
  Fd event(eventfd(0, 0));
  count([&] { ioctl(event, kUnknown, 0); });
  EXPECT_EQ(ioctls({.file = FileKind::other, .request = kUnknown}), 1U);
}

TEST_F(Details, KnowWhatADescriptorStoodForWhenTheCallEntered) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by());
  Fd null(open("/dev/null", O_RDWR));
  Fd random(open("/dev/random", O_RDONLY));
  const int fd = dup(null);
  count([&] {
    ioctl(fd, kUnknown, 0);
    dup2(random, fd);
    ioctl(fd, kUnknown, 0);
  });
  close(fd);
  EXPECT_EQ(ioctls(device(kNull, kUnknown)), 1U);
  EXPECT_EQ(ioctls(device(kRandom, kUnknown)), 1U);
}

TEST_F(Details, AreLeftOutOfCallsThatThereIsNoRoomFor) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by());
  Fd null(open("/dev/null", O_RDWR));
  constexpr std::uint64_t kRequests = 400;
  count([&] {
    for (std::uint64_t i = 0; i < kRequests; ++i) ioctl(null, kUnknown + i, 0);
    getppid();
  });
  EXPECT_EQ(all_ioctls(), kRequests);
  EXPECT_EQ(ioctls({}), kRequests - 256);
  EXPECT_EQ(table_.find({Abi::x86_64, SYS_getppid})->calls, 1U);
  EXPECT_EQ(backend_->losses().lost, 0U);
}

}  // namespace
}  // namespace syscost::ebpf
