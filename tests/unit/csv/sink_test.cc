// SPDX-License-Identifier: MIT
#include "csv/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <set>

#include "csv/row.h"
#include "temporary_folder.h"

namespace syscost::csv {
namespace {

using ::syscost::testing::read_file;
using ::syscost::testing::TemporaryFolder;
using ::syscost::testing::write_file;

class SinkTest : public ::testing::Test {
 protected:
  Sink open() {
    Result<Sink> sink = Sink::open(path_);
    EXPECT_TRUE(sink.ok()) << sink.failure().reason;
    return std::move(sink.value());
  }
  std::string failure_of(const std::string& path) {
    Result<Sink> sink = Sink::open(path);
    return sink.ok() ? "" : sink.failure().reason;
  }
  std::string contents() const { return read_file(path_); }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("out.csv");
};

TEST_F(SinkTest, WritesTheHeaderOnceAndAppends) {
  ASSERT_TRUE(open().append("a\n").ok());
  ASSERT_TRUE(open().append("b\n").ok());
  EXPECT_EQ(contents(), header_line() + "a\nb\n");
}

TEST_F(SinkTest, ClosesALineThatAKilledWriterTore) {
  write_file(path_, header_line() + "a\ntor");
  ASSERT_TRUE(open().append("b\n").ok());
  EXPECT_EQ(contents(), header_line() + "a\ntor\nb\n");
}

TEST_F(SinkTest, ClosesALineThatWasTornAfterItsOwnRows) {
  Sink sink = open();
  ASSERT_TRUE(sink.append("a\n").ok());
  write_file(path_, contents() + "tor");
  ASSERT_TRUE(sink.append("b\n").ok());
  EXPECT_EQ(contents(), header_line() + "a\ntor\nb\n");
}

TEST_F(SinkTest, WritesTheHeaderAgainToAFileThatWasEmptied) {
  Sink sink = open();
  ASSERT_TRUE(sink.append("a\n").ok());
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  ASSERT_TRUE(sink.append("b\n").ok());
  EXPECT_EQ(contents(), header_line() + "b\n");
}

// Reading costs more than it seems: the kernel writes down the time of access, too.
TEST_F(SinkTest, DoesNotReadPastItsOwnRows) {
  Sink sink = open();
  ASSERT_TRUE(sink.append("a\n").ok());
  const timespec long_ago{1, 0};
  const std::array<timespec, 2> times{long_ago, {0, UTIME_OMIT}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times.data(), 0), 0);
  ASSERT_TRUE(sink.append("b\n").ok());
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_atim.tv_sec, long_ago.tv_sec);
}

TEST_F(SinkTest, LeavesAFileOfSomebodyElseUntouched) {
  write_file(path_, "my notes\n");
  EXPECT_NE(failure_of(path_), "");
  EXPECT_EQ(contents(), "my notes\n");
}

TEST_F(SinkTest, RefusesPathsItCannotWriteTo) {
  EXPECT_NE(failure_of(folder_.file("missing/out.csv")).find("missing/out.csv"), std::string::npos);
  EXPECT_NE(failure_of(folder_.path()), "") << "a folder";
  ASSERT_EQ(mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  EXPECT_NE(failure_of(folder_.file("pipe")).find("pipe"), std::string::npos);
}

TEST_F(SinkTest, IsCheckedWithoutMakingTheFile) {
  EXPECT_TRUE(Sink::check(path_).ok());
  EXPECT_EQ(access(path_.c_str(), F_OK), -1);
  ASSERT_TRUE(open().append("a\n").ok());
  EXPECT_TRUE(Sink::check(path_).ok());
  EXPECT_EQ(contents(), header_line() + "a\n");
  EXPECT_FALSE(Sink::check(folder_.file("missing/out.csv")).ok());
  EXPECT_FALSE(Sink::check(folder_.path()).ok());
  write_file(folder_.file("notes"), "my notes\n");
  EXPECT_FALSE(Sink::check(folder_.file("notes")).ok());
  EXPECT_TRUE(Sink::check("/dev/null").ok());
}

TEST_F(SinkTest, WritesRowsOfATemporaryFileNowhereOnceItsFolderIsGone) {
  const std::string folder = folder_.file("temporary");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::string path = folder + "/out.csv";
  Result<Sink> before = Sink::open(path, Lifetime::temporary);
  ASSERT_TRUE(before.ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(rmdir(folder.c_str()), 0);
  EXPECT_TRUE(before.value().append("a\n").ok());
  Result<Sink> after = Sink::open(path, Lifetime::temporary);
  ASSERT_TRUE(after.ok()) << after.failure().reason;
  EXPECT_TRUE(after.value().append("a\n").ok());
  EXPECT_FALSE(Sink::open(path).ok());
}

TEST_F(SinkTest, RefusesTheProgramsOwnOutput) {
  const int saved = dup(STDERR_FILENO);
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
  dup2(file, STDERR_FILENO);
  const std::string reason = failure_of(path_);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(file);
  EXPECT_NE(reason.find("own output"), std::string::npos) << reason;
}

TEST_F(SinkTest, SurvivesATestThatClosesItsDescriptor) {
  Sink sink = open();
  // A test closes all descriptors, and another file gets the number of ours.
  std::set<int> ours;
  for (int fd = 3; fd < 1100; ++fd) {
    struct stat of_fd {};
    struct stat of_path {};
    if (fstat(fd, &of_fd) == 0 && stat(path_.c_str(), &of_path) == 0 && of_fd.st_ino == of_path.st_ino) ours.insert(fd);
  }
  ASSERT_EQ(ours.size(), 1U);
  const std::string other = folder_.file("other");
  const int foreign = ::open(other.c_str(), O_RDWR | O_CREAT, 0600);
  dup2(foreign, *ours.begin());
  close(foreign);

  ASSERT_TRUE(sink.append("a\n").ok());
  EXPECT_EQ(contents(), header_line() + "a\n");
  EXPECT_EQ(read_file(other), "");
  close(*ours.begin());
}

TEST_F(SinkTest, MakesADeletedFileAnew) {
  Sink sink = open();
  ASSERT_TRUE(sink.append("a\n").ok());
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_TRUE(sink.append("b\n").ok());
  EXPECT_EQ(contents(), header_line() + "b\n");
}

std::optional<Failure> loss_of(Sink& sink) {
  sink.look_for_loss();
  return sink.take_loss();
}

/// Whether rows were lost after `first`, which is written before `what` happens to the file, and `second` after it.
class SinkLossTest : public SinkTest {
 protected:
  template <typename Happens>
  bool is_lost_when(Happens what, bool appends_after = true) {
    Sink sink = open();
    EXPECT_TRUE(sink.append("first\n").ok());
    EXPECT_FALSE(loss_of(sink).has_value());
    what();
    EXPECT_TRUE(!appends_after || sink.append("second\n").ok());
    const std::optional<Failure> loss = loss_of(sink);
    EXPECT_TRUE(!loss.has_value() || loss->reason.find(path_) != std::string::npos);
    EXPECT_FALSE(loss_of(sink).has_value()) << "said once";
    EXPECT_TRUE(sink.append("third\n").ok());
    EXPECT_FALSE(loss_of(sink).has_value()) << "said once";
    EXPECT_TRUE(contents().ends_with("third\n"));
    return loss.has_value();
  }
  void cut_to(std::size_t size) const { ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(size)), 0); }
  void replace_by(const std::string& text) const {
    const std::string other = folder_.file("other");
    write_file(other, text);
    ASSERT_EQ(rename(other.c_str(), path_.c_str()), 0);
  }
};

TEST_F(SinkLossTest, SaysThatAFileWasEmptied) {
  EXPECT_TRUE(is_lost_when([&] { cut_to(0); }));
}

TEST_F(SinkLossTest, SaysThatOneRowWasCutOff) {
  EXPECT_TRUE(is_lost_when([&] { cut_to(header_line().size()); }));
}

TEST_F(SinkLossTest, SaysThatAFileWasDeleted) {
  EXPECT_TRUE(is_lost_when([&] { ASSERT_EQ(unlink(path_.c_str()), 0); }));
}

TEST_F(SinkLossTest, SaysThatAFileWasDeletedAfterTheLastRow) {
  EXPECT_TRUE(is_lost_when([&] { ASSERT_EQ(unlink(path_.c_str()), 0); }, false));
}

TEST_F(SinkLossTest, SaysThatAFileWasReplaced) {
  EXPECT_TRUE(is_lost_when([&] { replace_by(header_line()); }));
}

TEST_F(SinkLossTest, SaysThatAFileWasEmptiedAndFilledByAnother) {
  EXPECT_TRUE(is_lost_when([&] {
    cut_to(0);
    ASSERT_TRUE(open().append("rows of another process, more than were there before\n").ok());
  }));
}

TEST_F(SinkLossTest, SaysThatAFileWasDeletedWhoseDescriptorWasClosed) {
  EXPECT_TRUE(is_lost_when([&] {
    ASSERT_EQ(unlink(path_.c_str()), 0);
    ASSERT_EQ(close_range(3, ~0U, 0), 0);
    // On some file systems the next file gets the number of the one that is gone.
    ASSERT_TRUE(open().append("1\n").ok());
  }));
}

TEST_F(SinkLossTest, SaysNothingWhereADescriptorWasClosed) {
  EXPECT_FALSE(is_lost_when([] { ASSERT_EQ(close_range(3, ~0U, 0), 0); }));
}

TEST_F(SinkLossTest, SaysNothingWhereAnotherProcessAppends) {
  EXPECT_FALSE(is_lost_when([&] { ASSERT_TRUE(open().append("another\n").ok()); }));
}

TEST_F(SinkLossTest, SaysThatRowsOfOthersWereDeletedBeforeItsFirst) {
  ASSERT_TRUE(open().append("another\n").ok());
  Sink sink = open();
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_TRUE(sink.append("a\n").ok());
  EXPECT_TRUE(loss_of(sink).has_value());
}

TEST_F(SinkLossTest, SaysNothingOfAFileThatHeldNoRows) {
  Sink sink = open();
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_TRUE(sink.append("a\n").ok());
  EXPECT_FALSE(loss_of(sink).has_value());
}

TEST_F(SinkTest, KeepsTheUsersDescriptorNumbersFree) {
  const int before = dup(STDIN_FILENO);
  close(before);
  Sink sink = open();
  const int after = dup(STDIN_FILENO);
  close(after);
  EXPECT_EQ(before, after);
}

/// A file-size limit stands for the full disk: a write is accepted in part, the next one fails. The signal that comes
/// with it keeps its default, which is to kill.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(SinkTest, TakesBackWhatAFullDiskAcceptedInPart) {
  Sink sink = open();
  ASSERT_TRUE(sink.append("a\n").ok());
  const std::string before = contents();
  {
    FileSizeLimit limit(before.size() + 10);
    Result<void> appended = sink.append(std::string(100, 'x') + "\n");
    ASSERT_FALSE(appended.ok());
    EXPECT_NE(appended.failure().reason.find(path_), std::string::npos);
    EXPECT_EQ(contents(), before);
  }
  ASSERT_TRUE(sink.append("b\n").ok()) << "space is back";
  EXPECT_EQ(contents(), before + "b\n");
}

TEST_F(SinkTest, SurvivesAFileSizeLimitAndLeavesNoSignalPending) {
  Sink sink = open();
  {
    FileSizeLimit limit(0);
    Result<void> appended = sink.append("a\n");
    ASSERT_FALSE(appended.ok());
    EXPECT_NE(appended.failure().reason.find("EFBIG"), std::string::npos) << appended.failure().reason;
  }
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGXFSZ), 0);
}

TEST_F(SinkTest, LeavesAFileSizeSignalOfTheUsersPending) {
  Sink sink = open();
  sigset_t size_limit;
  sigemptyset(&size_limit);
  sigaddset(&size_limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &size_limit, nullptr);
  pthread_kill(pthread_self(), SIGXFSZ);
  {
    FileSizeLimit limit(0);
    EXPECT_FALSE(sink.append("a\n").ok());
  }
  const timespec no_time{};
  EXPECT_EQ(sigtimedwait(&size_limit, nullptr, &no_time), SIGXFSZ);
  pthread_sigmask(SIG_UNBLOCK, &size_limit, nullptr);
}

TEST_F(SinkTest, ReportsADeviceThatIsFullWhenRowsComeNotBefore) {
  Result<Sink> sink = Sink::open("/dev/full");
  ASSERT_TRUE(sink.ok()) << sink.failure().reason;
  Result<void> appended = sink.value().append("a\n");
  ASSERT_FALSE(appended.ok());
  EXPECT_NE(appended.failure().reason.find("/dev/full"), std::string::npos) << appended.failure().reason;
  EXPECT_NE(appended.failure().reason.find("ENOSPC"), std::string::npos) << appended.failure().reason;
}

}  // namespace
}  // namespace syscost::csv
