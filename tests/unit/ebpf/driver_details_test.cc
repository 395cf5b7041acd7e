// SPDX-License-Identifier: MIT
//
// Details that rules of a driver ask for: the sub-command of a request, the driver's own status, its threads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "details_case.h"

namespace syscost::ebpf {
namespace {

constexpr std::uint32_t kPtmx = 5U << 20 | 2;

TEST_F(Details, HoldTheSubCommandWhereARuleSaysWhereItIs) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by({{kNull, 0xffff'ffff, 0x34, 0xff, 8, RequestRule::kNowhere}}));
  Fd null(open("/dev/null", O_RDWR));
  Fd random(open("/dev/random", O_RDONLY));
  const std::array<std::uint32_t, 4> argument{1, 2, 0xc0de, 4};
  count([&] {
    ioctl(null, kUnknown, argument.data());
    ioctl(null, kUnknown, nullptr);  // nothing to read there
    ioctl(null, kUnknown + 1, argument.data());
    ioctl(random, kUnknown, argument.data());
  });
  CallDetail with_command = device(kNull, kUnknown);
  with_command.has_command = true;
  with_command.command = 0xc0de;
  EXPECT_EQ(ioctls(with_command), 1U);
  EXPECT_EQ(ioctls(device(kNull, kUnknown)), 1U);
  EXPECT_EQ(ioctls(device(kNull, kUnknown + 1)), 1U);
  EXPECT_EQ(ioctls(device(kRandom, kUnknown)), 1U);
}

// TIOCGPTN succeeds and writes the terminal's number: taken for a status, 0 is a success, any other a failure.
TEST_F(Details, KeepCallsThatFailedForTheDriverApartFromThoseThatSucceeded) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by({{kPtmx, 0xffff'ffff, TIOCGPTN, 0xffff'ffff, RequestRule::kNowhere, 0}}));
  Fd null(open("/dev/null", O_RDWR));
  Fd first(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  Fd second(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  std::uint32_t numbers[2] = {};
  count([&] {
    for (int i = 0; i < 100; ++i) {
      ioctl(first, TIOCGPTN, &numbers[0]);
      ioctl(second, TIOCGPTN, &numbers[1]);
    }
    ioctl(second, TIOCGPTN, nullptr);  // EFAULT: no status of the driver's
  });
  struct stat status {};
  ASSERT_EQ(fstat(first, &status), 0);
  const std::uint32_t number = major(status.st_rdev) << 20 | minor(status.st_rdev);
  if (number != kPtmx) GTEST_SKIP() << "/dev/ptmx is another device here";
  ASSERT_NE(numbers[0], numbers[1]);
  for (std::uint32_t terminal : numbers) {
    CallDetail detail = device(kPtmx, TIOCGPTN);
    detail.status = terminal;
    EXPECT_EQ(ioctls(detail), terminal == 0 ? 101U : 100U);
  }
  EXPECT_EQ(all_ioctls(), 201U);
}

TEST_F(Details, KeepTheCallsOfADriversThreadsApart) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by({}, {"cuda", "another"}));
  Fd null(open("/dev/null", O_RDWR));
  const auto work = [&](const char* name) {
    std::thread([&] {
      prctl(PR_SET_NAME, name);
      for (int i = 0; i < 5; ++i) getppid();
      ioctl(null, kUnknown, 0);
    }).join();
  };
  count([&] {
    work("cuda-EvtHandlr");
    work("cud");
    getppid();
  });
  const SyscallId getppids{Abi::x86_64, SYS_getppid};
  SyscallId of_driver = getppids;
  of_driver.detail.is_driver_thread = true;
  EXPECT_EQ(table_.find(of_driver)->calls, 5U);
  EXPECT_EQ(table_.find(getppids)->calls, 6U);
  CallDetail detail = device(kNull, kUnknown);
  EXPECT_EQ(ioctls(detail), 1U);
  detail.is_driver_thread = true;
  EXPECT_EQ(ioctls(detail), 1U);
}

TEST_F(Details, TakeTheMainThreadForTheProgramsWhateverItsName) {
  struct Name {
    Name() { prctl(PR_GET_NAME, before.data()), prctl(PR_SET_NAME, "cuda_test"); }
    ~Name() { prctl(PR_SET_NAME, before.data()); }
    std::array<char, 16> before{};
  } name;
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by({}, {"cuda"}));
  count([&] {
    getppid();
    std::thread([] { getppid(); }).join();
    std::thread([] {
      prctl(PR_SET_NAME, "cuda-EvtHandlr");
      for (int i = 0; i < 5; ++i) getppid();
    }).join();
  });
  const SyscallId getppids{Abi::x86_64, SYS_getppid};
  SyscallId of_driver = getppids;
  of_driver.detail.is_driver_thread = true;
  EXPECT_EQ(table_.at(getppids).calls, 2U);
  EXPECT_EQ(table_.at(of_driver).calls, 5U);
}

// A node with a driver's numbers needs no driver to be named, and none to be opened by name only.
TEST_F(Details, KnowADriversDeviceByItsNumbers) {
  OPEN_WITH_DETAILS_OR_SKIP(ioctls_by({{195U << 20, 0xfff0'0000, 0x2b, 0xff, 12, RequestRule::kNowhere}}));
  std::string folder = "/tmp/syscost-details-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/nvidiactl";
  const bool made = mknod(path.c_str(), S_IFCHR | 0600, makedev(195, 255)) == 0;
  {
    const int fd = made ? open(path.c_str(), O_PATH) : -1;
    const std::array<std::uint32_t, 12> argument{1, 2, 3, 0xc5c0};
    if (fd >= 0) count([&] { ioctl(fd, 0xc030'462bUL, argument.data()); });
    if (fd >= 0) close(fd);
  }
  unlink(path.c_str());
  rmdir(folder.c_str());
  if (!made) GTEST_SKIP() << "mknod of a device is not allowed here; run as root outside of a container";
  CallDetail expected = device(195U << 20 | 255, 0xc030'462bUL);
  expected.has_command = true;
  expected.command = 0xc5c0;
  EXPECT_EQ(ioctls(expected), 1U);
}

}  // namespace
}  // namespace syscost::ebpf
