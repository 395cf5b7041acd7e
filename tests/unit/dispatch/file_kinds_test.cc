// SPDX-License-Identifier: MIT
//
// --syscost_detail file with dispatch: the stub asks what descriptors stand for, and no filter kills the program for
// it.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

#include "opened.h"

namespace syscost::dispatch {
namespace {

class FileKindsTest : public testing::TestWithParam<Patching> {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
    ASSERT_EQ(pipe(pipes_.data()), 0);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_.data()), 0);
  }
  void TearDown() override {
    for (int one : {pipes_[0], pipes_[1], sockets_[0], sockets_[1]}) close(one);
  }

  /// Counts what `body` does. Call it from a window's test only.
  template <class Body>
  void count(Body body) {
    if (dispatch_ == nullptr) {
      dispatch_ = std::make_unique<OpenedDispatch>(GetParam(), 0, false, std::vector<RequestRule>{}, true);
    }
    WindowBook book(*dispatch_->backend, quiet_memory());
    WindowBook::Window* window = book.open(Reach::process);
    body();
    detail::CostData cost(&quiet_memory());
    book.close(window, cost);
    EXPECT_EQ(cost.lost + cost.late, 0U);
    table_.clear();
    for (const auto& [id, tally] : cost.table) table_.at(id).merge(tally);
  }

  const Tally* find(long number, FileKind file, FileKind to = FileKind::none) const {
    SyscallId id{Abi::x86_64, static_cast<std::uint32_t>(number)};
    if (file != FileKind::none) id.detail = {.file = file, .to = to, .is_kind_only = true};
    return table_.find(id);
  }
  /// The bytes of its one call; -1 if it has not one.
  std::int64_t bytes(long number, FileKind file, FileKind to = FileKind::none) const {
    const Tally* tally = find(number, file, to);
    return tally == nullptr || tally->calls != 1 ? -1 : static_cast<std::int64_t>(tally->bytes);
  }

  std::array<int, 2> pipes_{};
  std::array<int, 2> sockets_{};
  std::unique_ptr<OpenedDispatch> dispatch_;
  CallTable table_{&quiet_memory()};
  std::array<char, 100> data_{};
};

std::string way_of(const testing::TestParamInfo<Patching>& way) {
  return way.param == Patching::allowed ? "patched" : "trapped";
}
INSTANTIATE_TEST_SUITE_P(Ways, FileKindsTest, testing::Values(Patching::allowed, Patching::never), way_of);

TEST_P(FileKindsTest, TellCallsThatMoveDataApart) {
  const int null = open("/dev/null", O_RDWR);
  const int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  const int file = open("/proc/self/exe", O_RDONLY);
  const int folder = open("/", O_RDONLY | O_DIRECTORY);
  const int event = eventfd(1, EFD_NONBLOCK);
  const int memory = memfd_create("kinds", 0);
  ssize_t sent = 0;
  int error = 0;
  count([&] {
    static_cast<void>(write(null, data_.data(), 7));
    static_cast<void>(write(pipes_[1], data_.data(), 30));
    static_cast<void>(read(pipes_[0], data_.data(), 20));
    static_cast<void>(read(file, data_.data(), 40));
    static_cast<void>(pread(file, data_.data(), 2, 0));
    static_cast<void>(read(folder, data_.data(), 1));
    errno = 0;
    static_cast<void>(read(-1, data_.data(), 1));
    error = errno;
    static_cast<void>(read(event, data_.data(), 8));
    static_cast<void>(write(memory, data_.data(), 50));
    static_cast<void>(write(terminal, nullptr, 0));
    send(sockets_[0], data_.data(), 60, 0);
    recv(sockets_[1], data_.data(), 60, 0);
    off_t at = 0;
    sent = sendfile(sockets_[0], file, &at, 70);
    splice(pipes_[0], nullptr, null, nullptr, 10, 0);
    getppid();
  });
  for (int one : {null, terminal, file, folder, event, memory}) close(one);
  EXPECT_EQ(bytes(SYS_write, FileKind::character_device), 7);
  EXPECT_EQ(bytes(SYS_write, FileKind::pipe), 30);
  EXPECT_EQ(bytes(SYS_read, FileKind::pipe), 20);
  EXPECT_EQ(bytes(SYS_read, FileKind::file), 40);
  EXPECT_EQ(bytes(SYS_pread64, FileKind::file), 2);
  EXPECT_EQ(bytes(SYS_read, FileKind::directory), 0);
  EXPECT_EQ(bytes(SYS_read, FileKind::bad_descriptor), 0);
  EXPECT_EQ(bytes(SYS_read, FileKind::other), 8);
  EXPECT_EQ(bytes(SYS_write, FileKind::file), 50);
  EXPECT_EQ(bytes(SYS_write, FileKind::terminal), 0);
  EXPECT_EQ(bytes(SYS_sendto, FileKind::socket), 60);
  EXPECT_EQ(bytes(SYS_recvfrom, FileKind::socket), 60);
  EXPECT_EQ(sent, 70);
  EXPECT_EQ(bytes(SYS_sendfile, FileKind::file, FileKind::socket), 70);
  EXPECT_EQ(bytes(SYS_splice, FileKind::pipe, FileKind::character_device), 10);
  EXPECT_EQ(bytes(SYS_getppid, FileKind::none), 0);
  EXPECT_EQ(table_.size(), 15U) << "the stub's own questions are in no count";
  EXPECT_EQ(error, EBADF);
  ASSERT_NE(find(SYS_read, FileKind::directory), nullptr);
  EXPECT_EQ(find(SYS_read, FileKind::directory)->errors.count(EISDIR), 1U);
}

TEST_P(FileKindsTest, HaveEveryCallOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  count([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kCalls; ++n) send(sockets_[0], data_.data(), 0, MSG_DONTWAIT);
        const int null = open("/dev/null", O_WRONLY);
        for (int n = 0; n < kCalls; ++n) static_cast<void>(write(null, data_.data(), 3));
        close(null);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_NE(find(SYS_write, FileKind::character_device), nullptr);
  EXPECT_EQ(find(SYS_write, FileKind::character_device)->calls, kThreads * kCalls);
  EXPECT_EQ(find(SYS_write, FileKind::character_device)->bytes, 3U * kThreads * kCalls);
  ASSERT_NE(find(SYS_sendto, FileKind::socket), nullptr);
  EXPECT_EQ(find(SYS_sendto, FileKind::socket)->calls, kThreads * kCalls);
}

/// Waits until the thread sleeps in the kernel.
void wait_until_asleep(const std::atomic<pid_t>& thread) {
  while (thread == 0) std::this_thread::yield();
  char state = '?';
  while (state != 'S') {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string id;
    std::string name;
    file >> id >> name >> state;
  }
}

TEST_P(FileKindsTest, OfACallThatCrossesABoundaryAreThoseAtItsBeginning) {
  std::thread reader;
  std::atomic<pid_t> reads = 0;
  count([&] {
    reader = std::thread([&] {
      reads = gettid();
      static_cast<void>(read(pipes_[0], data_.data(), 5));
    });
    // A call that begins between two windows has no kind.
    wait_until_asleep(reads);
  });
  std::uint64_t others = 0;
  count([&] {
    static_cast<void>(write(pipes_[1], data_.data(), 5));
    reader.join();
  });
  for (const auto& [id, tally] : table_) {
    if (id.number == SYS_read && id.detail.file != FileKind::pipe) others += tally.calls + tally.carried_in;
  }
  EXPECT_EQ(others, 0U);
  EXPECT_EQ(bytes(SYS_write, FileKind::pipe), 5);
}

TEST_P(FileKindsTest, AreGoneWithTheirBackend) {
  count([&] { static_cast<void>(write(pipes_[1], data_.data(), 5)); });
  EXPECT_EQ(bytes(SYS_write, FileKind::pipe), 5);
  dispatch_.reset();
  dispatch_ = std::make_unique<OpenedDispatch>(GetParam());
  count([&] { static_cast<void>(write(pipes_[1], data_.data(), 5)); });
  EXPECT_EQ(bytes(SYS_write, FileKind::none), 5);
}

/// From now on the kernel answers statx with `answer`.
bool deny_statx(std::uint32_t answer) {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog filter = {4, program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// In a child, because a filter stays.
template <class Body>
void check_in_child(Body body) {
  EXPECT_EXIT(_exit(body() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_P(FileKindsTest, AreUnknownAfterTheProgramHasInstalledAFilter) {
  check_in_child([&] {
    const auto write_one = [&] { static_cast<void>(write(pipes_[1], data_.data(), 5)); };
    count(write_one);
    if (bytes(SYS_write, FileKind::pipe) != 5) return false;
    if (!deny_statx(SECCOMP_RET_KILL_PROCESS)) return false;
    count(write_one);
    return bytes(SYS_write, FileKind::unknown) == 5 && find(SYS_write, FileKind::pipe) == nullptr;
  });
}

TEST_P(FileKindsTest, AreUnknownUnderAFilterThatDeniesTheQuestion) {
  for (const std::uint32_t answer : {std::uint32_t{SECCOMP_RET_KILL_PROCESS}, SECCOMP_RET_ERRNO | EPERM}) {
    check_in_child([&] {
      if (!deny_statx(answer)) return false;
      count([&] { static_cast<void>(write(pipes_[1], data_.data(), 5)); });
      const bool says_why = dispatch_->backend->remark().find("kinds of files are unknown") != std::string::npos;
      return says_why && bytes(SYS_write, FileKind::unknown) == 5;
    });
  }
}

TEST_P(FileKindsTest, AreKnownUnderAFilterThatAllowsTheQuestion) {
  check_in_child([&] {
    if (!deny_statx(SECCOMP_RET_ALLOW)) return false;
    count([&] { static_cast<void>(write(pipes_[1], data_.data(), 5)); });
    return bytes(SYS_write, FileKind::pipe) == 5;
  });
}

}  // namespace
}  // namespace syscost::dispatch
