// SPDX-License-Identifier: MIT
//
// Details: real ioctls on devices that every machine has, told apart by file and request. It loads the programs, and
// skips with the reason where it may not.
#include "core/call_detail.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/random.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/ebpf/ebpf_backend.h"
#include "os/quiet_memory.h"

namespace syscost::ebpf {
namespace {

constexpr SyscallId kIoctl{Abi::x86_64, SYS_ioctl};
constexpr std::uint32_t kNull = 1U << 20 | 3;
constexpr std::uint32_t kRandom = 1U << 20 | 8;
constexpr std::uint32_t kPtmx = 5U << 20 | 2;
/// Of no driver's.
constexpr unsigned long kUnknown = 0x1234;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) { EXPECT_GE(fd, 0); }
  ~Fd() { close(fd_); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  operator int() const { return fd_; }  // NOLINT(google-explicit-constructor): so that calls read as calls

 private:
  int fd_;
};

class Details : public testing::Test {
 protected:
  void open_backend_for(const DetailRequest& details) {
    Result<std::unique_ptr<Backend>> opened = open_backend({.details = details});
    if (!opened.ok()) {
      // If programs without details work here, those with details must work too.
      ASSERT_FALSE(details.any() && open_backend().ok()) << opened.failure().reason;
      GTEST_SKIP() << opened.failure().reason << "; " << opened.failure().how_to_fix;
    }
    backend_ = std::move(opened.value());
  }

  /// Counts what `body` does.
  template <class Body>
  void count(Body body) {
    table_.clear();
    backend_->boundary(Lane::kProcess, Next::kArm);
    body();
    backend_->boundary(Lane::kProcess, Next::kDisarm);
    backend_->read(Lane::kProcess, table_);
  }

  /// Calls of ioctl with this detail.
  std::uint64_t ioctls(const CallDetail& detail) const {
    const Tally* tally = table_.find({kIoctl.abi, kIoctl.number, detail});
    return tally == nullptr ? 0 : tally->calls;
  }
  std::uint64_t all_ioctls() const {
    std::uint64_t sum = 0;
    for (const auto& [id, tally] : table_) {
      if (id.without_detail() != kIoctl) continue;
      EXPECT_EQ(tally.entries, tally.calls);
      EXPECT_EQ(tally.latency.count(), tally.calls);
      sum += tally.calls;
    }
    return sum;
  }

  std::unique_ptr<Backend> backend_;
  CallTable table_{&quiet_memory()};
};

CallDetail kinds(FileKind file, FileKind to = FileKind::none) {
  return {.file = file, .to = to, .is_kind_only = true};
}

CallDetail device(std::uint32_t number, unsigned long request) {
  return {.file = FileKind::character_device, .device = number, .request = static_cast<std::uint32_t>(request)};
}

DetailRequest ioctls_by(std::vector<RequestRule> rules = {}, std::vector<std::string> driver_threads = {}) {
  return {true, std::move(rules), std::move(driver_threads)};
}

#define OPEN_OR_SKIP(...)                                 \
  ASSERT_NO_FATAL_FAILURE(open_backend_for(__VA_ARGS__)); \
  if (backend_ == nullptr) return

TEST_F(Details, AreNotThereUnlessAskedFor) {
  OPEN_OR_SKIP({});
  Fd null(open("/dev/null", O_RDWR));
  count([&] { ioctl(null, kUnknown, 0); });
  EXPECT_EQ(table_.find(kIoctl)->calls, 1U);
  EXPECT_EQ(table_.size(), 1U);
}

// The details that a pair of programs looks for are fixed when it is loaded, so that other processes pay nothing for
// them.
TEST_F(Details, ComeFromProgramsThatNoOtherProcessShares) {
  OPEN_OR_SKIP(ioctls_by());
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
  OPEN_OR_SKIP(ioctls_by());
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
  OPEN_OR_SKIP(files);
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
  OPEN_OR_SKIP(ioctls_by());
  Fd event(eventfd(0, 0));
  count([&] { ioctl(event, kUnknown, 0); });
  EXPECT_EQ(ioctls({.file = FileKind::other, .request = kUnknown}), 1U);
}

TEST_F(Details, KnowWhatADescriptorStoodForWhenTheCallEntered) {
  OPEN_OR_SKIP(ioctls_by());
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

TEST_F(Details, HoldTheSubCommandWhereARuleSaysWhereItIs) {
  OPEN_OR_SKIP(ioctls_by({{kNull, 0xffff'ffff, 0x34, 0xff, 8, RequestRule::kNowhere}}));
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
  OPEN_OR_SKIP(ioctls_by({{kPtmx, 0xffff'ffff, TIOCGPTN, 0xffff'ffff, RequestRule::kNowhere, 0}}));
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
  OPEN_OR_SKIP(ioctls_by({}, {"cuda", "another"}));
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
  OPEN_OR_SKIP(ioctls_by({}, {"cuda"}));
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

TEST_F(Details, AreLeftOutOfCallsThatThereIsNoRoomFor) {
  OPEN_OR_SKIP(ioctls_by());
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

// A node with a driver's numbers needs no driver to be named, and none to be opened by name only.
TEST_F(Details, KnowADriversDeviceByItsNumbers) {
  OPEN_OR_SKIP(ioctls_by({{195U << 20, 0xfff0'0000, 0x2b, 0xff, 12, RequestRule::kNowhere}}));
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
