// SPDX-License-Identifier: MIT
//
// From calls to operations, with calls made by hand.
#include "extras/crash/states/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <string>
#include <utility>
#include <vector>

#include "extras/crash/states/model.h"

namespace syscost::crash {
namespace {

constexpr std::uint64_t kDevice = 7;
constexpr std::uint64_t kRootNumber = 2;

SeenFile folder_seen(std::uint64_t number = kRootNumber) {
  return {{kDevice, number}, 0, S_IFDIR | 0755};
}
SeenFile file_seen(std::uint64_t number, std::uint64_t size = 0) {
  return {{kDevice, number}, size, S_IFREG | 0644};
}

class Journals : public testing::Test {
 protected:
  Journals() { before_.nodes[{kDevice, kRootNumber}] = kRoot; }

  void has(const std::string& name, std::uint64_t number, const std::string& content) {
    const Node node = add_inode(before_.image, {Kind::file, 0644, std::make_shared<const std::string>(content), {}});
    before_.image.inodes[kRoot].entries[name] = node;
    before_.nodes[{kDevice, number}] = node;
  }

  FileCall& call(std::uint32_t number, std::int64_t result = 0) {
    FileCall& one = calls_.emplace_back();
    one.number = number;
    one.result = result;
    one.has_returned = true;
    one.begun = ++clock_;
    one.ended = ++clock_;
    return one;
  }
  void create(const std::string& path, std::uint64_t number, SeenFile folder = folder_seen()) {
    FileCall& one = call(SYS_openat, 3);
    one.path = path;
    one.folder = folder;
    one.other = file_seen(number);
  }
  FileCall& write(std::uint64_t number, const std::string& data, std::uint64_t offset) {
    FileCall& one = call(SYS_write, static_cast<std::int64_t>(data.size()));
    one.object = file_seen(number);
    one.data = data;
    one.offset = offset;
    return one;
  }
  void sync(SeenFile file) { call(SYS_fsync).object = file; }
  FileCall& rename(const std::string& from, const std::string& into, SeenFile moved, SeenFile replaced = {}) {
    FileCall& one = call(SYS_renameat2);
    one.path = from;
    one.other_path = into;
    one.folder = one.other_folder = folder_seen();
    one.object = moved;
    one.other = replaced;
    return one;
  }

  Result<Recording> record() const {
    return make_recording(before_, calls_, [](std::uint32_t stack) { return "x.cc:" + std::to_string(stack); });
  }
  std::vector<std::string> texts() const {
    const Result<Recording> recording = record();
    if (!recording.ok()) return {recording.failure().reason};
    std::vector<std::string> texts;
    for (const Operation& operation : recording.value().log) texts.push_back(operation.text);
    return texts;
  }
  /// With all operations.
  static Image end_of(const Recording& recording) {
    const Plan plan = make_plan(recording.initial, recording.log, {});
    return image_of(recording.initial, recording.log, plan, Changes(plan.changes.size(), true));
  }

  Snapshot before_;
  std::vector<FileCall> calls_;
  std::uint64_t clock_ = 0;
};

using Lines = std::vector<std::string>;

TEST_F(Journals, AnAtomicSaveIsFiveOperations) {
  has("f", 10, "old");
  create("/x/f.tmp", 11);
  write(11, "new!", 0).result = 3;  // a short write
  sync(file_seen(11));
  rename("/x/f.tmp", "/x/f", file_seen(11), file_seen(10));
  sync(folder_seen());
  EXPECT_EQ(texts(), (Lines{"create f.tmp", "write f.tmp, 3 bytes at 0", "fsync f.tmp", "rename f.tmp -> f",
                            "fsync the directory"}));
  const Result<Recording> recording = record();
  EXPECT_TRUE(recording.value().log[3].replaces);
  const Image end = end_of(recording.value());
  EXPECT_EQ(end.inodes[find(end, "f")].content(), "new");
  EXPECT_EQ(find(end, "f.tmp"), kNoNode);
}

TEST_F(Journals, CallsThatFailedOrConcernOtherFilesAreLeftOut) {
  create("a", 11);
  calls_.back().result = -13;
  write(99, "elsewhere", 0);
  create("/y/b", 12, folder_seen(50));
  EXPECT_EQ(texts(), Lines{});
}

TEST_F(Journals, LinesAreInTheText) {
  create("a", 11);
  calls_.back().stack = 17;
  EXPECT_EQ(texts(), Lines{"create a (x.cc:17)"});
}

TEST_F(Journals, OpenMayCutAFile) {
  has("a", 10, "old");
  FileCall& one = call(SYS_openat, 3);
  one.path = "a";
  one.folder = folder_seen();
  one.object = file_seen(10, 3);
  one.other = file_seen(10, 0);
  EXPECT_EQ(texts(), Lines{"resize a to 0 bytes"});
}

TEST_F(Journals, AnInodeNumberMayBelongToASecondFile) {
  create("a", 11);
  FileCall& gone = call(SYS_unlink);
  gone.path = "a";
  gone.folder = folder_seen();
  create("b", 11);
  write(11, "b's", 0);
  const Result<Recording> recording = record();
  ASSERT_TRUE(recording.ok());
  const Image end = end_of(recording.value());
  EXPECT_EQ(find(end, "a"), kNoNode);
  EXPECT_EQ(end.inodes[find(end, "b")].content(), "b's");
}

TEST_F(Journals, FoldersHavePaths) {
  FileCall& made = call(SYS_mkdir);
  made.path = "/x/d";
  made.folder = folder_seen();
  made.other = folder_seen(20);
  create("a", 11, folder_seen(20));
  sync(folder_seen(20));
  FileCall& gone = call(SYS_unlinkat);
  gone.path = "a";
  gone.folder = folder_seen(20);
  EXPECT_EQ(texts(), (Lines{"mkdir d", "create d/a", "fsync d", "unlink d/a"}));
}

TEST_F(Journals, FallocateGrowsZeroesOrKeepsAFile) {
  has("a", 10, "12345678");
  const auto allocate = [&](std::uint64_t mode, std::uint64_t offset, std::uint64_t bytes) {
    FileCall& one = call(SYS_fallocate);
    one.object = file_seen(10);
    one.arguments = {3, mode, offset, bytes};
  };
  allocate(FALLOC_FL_KEEP_SIZE, 0, 100);
  allocate(0, 0, 4);
  allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 6, 10);
  allocate(0, 0, 10);
  EXPECT_EQ(texts(), (Lines{"zero a, 2 bytes at 6", "resize a to 10 bytes"}));
  allocate(FALLOC_FL_COLLAPSE_RANGE, 0, 1);
  EXPECT_FALSE(record().ok());
}

TEST_F(Journals, RenameExchangesReplacesOrMovesOut) {
  has("a", 10, "A");
  has("b", 11, "B");
  rename("a", "b", file_seen(10), file_seen(11)).arguments[4] = RENAME_EXCHANGE;
  FileCall& out = rename("a", "/y/a", file_seen(11));
  out.other_folder = folder_seen(50);
  const Result<Recording> recording = record();
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(texts(), (Lines{"exchange a -> b", "rename a out of the directory"}));
  const Image end = end_of(recording.value());
  EXPECT_EQ(end.inodes[find(end, "b")].content(), "A");
  EXPECT_EQ(find(end, "a"), kNoNode);
}

TEST_F(Journals, TwoNamesOfOneFileAreNotRenamed) {
  has("a", 10, "A");
  FileCall& one = call(SYS_link);
  one.path = "a";
  one.other_path = "b";
  one.folder = one.other_folder = folder_seen();
  one.object = file_seen(10, 1);
  rename("a", "b", file_seen(10), file_seen(10));
  EXPECT_EQ(texts(), Lines{"link b"});
}

TEST_F(Journals, SynchronousWritesAreByFlags) {
  has("a", 10, "A");
  write(10, "x", 0).file_flags = O_DSYNC;
  FileCall& by_call = write(10, "y", 0);
  by_call.number = SYS_pwritev2;
  by_call.arguments[5] = RWF_DSYNC;
  write(10, "z", 0);
  const Result<Recording> recording = record();
  ASSERT_TRUE(recording.ok());
  EXPECT_TRUE(recording.value().log[0].is_synced);
  EXPECT_TRUE(recording.value().log[1].is_synced);
  EXPECT_FALSE(recording.value().log[2].is_synced);
}

TEST_F(Journals, MarksKeepTheirPlace) {
  create("a", 11);
  call(FileCall::kMark).path = "made";
  sync(file_seen(11));
  EXPECT_EQ(texts(), (Lines{"create a", "made", "fsync a"}));
}

TEST_F(Journals, RefusesWhatItCannotFollow) {
  create("a", 11);
  const std::vector<FileCall> so_far = calls_;
  const auto refuses = [&](const char* word) {
    const Result<Recording> recording = record();
    calls_ = so_far;
    return !recording.ok() && recording.failure().reason.find(word) != std::string::npos;
  };
  call(SYS_splice, 1).object = file_seen(11);
  EXPECT_TRUE(refuses("splice"));
  call(SYS_io_uring_enter);
  EXPECT_TRUE(refuses("io_uring"));
  rename("/y/b", "b", file_seen(40)).folder = folder_seen(50);
  EXPECT_TRUE(refuses("another directory"));
  write(11, "x", 0).has_returned = false;
  EXPECT_TRUE(refuses("had not come back"));
  // Two that append at the same time.
  write(11, "x", 0);
  const FileCall first = calls_.back();
  calls_.back().begun = first.ended - 1;
  write(11, "y", 1).begun = first.ended - 1;
  EXPECT_TRUE(refuses("at the same time"));
}

TEST_F(Journals, TheEndMustBeWhatTheCallsMake) {
  create("a", 11);
  write(11, "x", 0);
  Result<Recording> recording = record();
  ASSERT_TRUE(recording.ok());
  Image after = end_of(recording.value());
  EXPECT_TRUE(check_end(recording.value(), after, {}).ok());

  after.inodes[find(after, "a")].mode = 0600;
  EXPECT_TRUE(check_end(recording.value(), after, {}).ok());
  EXPECT_EQ(recording.value().initial.inodes.back().mode, 0600U);

  after.inodes[find(after, "a")].data = std::make_shared<const std::string>("y");
  const Result<void> differs = check_end(recording.value(), after, {});
  ASSERT_FALSE(differs.ok());
  EXPECT_NE(differs.failure().reason.find(": a differs"), std::string::npos) << differs.failure().reason;
  const std::vector<std::string> pattern = {"*a"};
  EXPECT_TRUE(check_end(recording.value(), after, pattern).ok());

  const Node b = add_inode(after, {});
  after.inodes[kRoot].entries["b"] = b;
  EXPECT_FALSE(check_end(recording.value(), after, pattern).ok());
}

}  // namespace
}  // namespace syscost::crash
