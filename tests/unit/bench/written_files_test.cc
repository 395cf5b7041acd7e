// SPDX-License-Identifier: MIT
//
// Which calls can lose nothing when they fail: a close() that has something to report, and one that has not.
#include "faults/test_row.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace syscost::bench::faults {
namespace {

class WrittenFilesTest : public ::testing::Test {
 protected:
  using Arguments = std::vector<std::pair<std::string, std::string>>;

  /// The next call of the trace: is it harmless?
  bool call(const std::string& name, const std::string& result, const Arguments& arguments) {
    trace::Call one;
    one.name = kept(name);
    one.result = kept(result);
    one.first_note = file_.notes.size();
    one.note_count = arguments.size();
    for (const auto& [argument, text] : arguments) file_.notes.push_back({kept(argument), kept(text), 0});
    return written_.is_harmless(one);
  }
  bool open(const std::string& descriptor, const std::string& flags, const std::string& path = "\"store\"") {
    return call("openat", descriptor, {{"filename", path}, {"flags", flags}});
  }
  bool with(const std::string& name, const std::string& descriptor) { return call(name, "0", {{"fd", descriptor}}); }
  bool close(const std::string& descriptor) { return with("close", descriptor); }

 private:
  std::string_view kept(const std::string& text) { return texts_.emplace_back(text); }

  std::deque<std::string> texts_;
  trace::TraceFile file_;
  WrittenFiles written_{file_};
};

TEST_F(WrittenFilesTest, CloseOfAWrittenFileMayFail) {
  EXPECT_FALSE(open("3", "O_WRONLY|O_CREAT"));
  EXPECT_FALSE(with("write", "3"));
  EXPECT_FALSE(close("3"));
  EXPECT_FALSE(open("3", "O_RDWR"));
  EXPECT_FALSE(with("ftruncate", "3"));
  EXPECT_FALSE(close("3"));
  EXPECT_FALSE(with("write", "9")) << "opened before the test";
  EXPECT_FALSE(close("9"));
}

TEST_F(WrittenFilesTest, CloseHasNothingToReportOfAFileThatIsReadOrUnchanged) {
  open("3", "O_RDONLY|O_CLOEXEC");
  EXPECT_TRUE(close("3"));
  open("3", "O_RDWR|O_CREAT|O_EXCL");
  EXPECT_TRUE(close("3"));
  EXPECT_TRUE(close("3")) << "an unknown one";
}

TEST_F(WrittenFilesTest, SyncHasReportedAllThatCameBefore) {
  open("3", "O_WRONLY");
  with("write", "3");
  EXPECT_FALSE(with("fsync", "3"));
  EXPECT_TRUE(close("3"));
  open("3", "O_WRONLY");
  with("write", "3");
  call("fsync", "-1 EIO (Input/output error)", {{"fd", "3"}});
  EXPECT_FALSE(close("3")) << "that fsync() failed";
  open("3", "O_WRONLY");
  with("fdatasync", "3");
  with("pwrite64", "3");
  EXPECT_FALSE(close("3")) << "written after it";
  open("3", "O_WRONLY|O_DSYNC");
  with("write", "3");
  EXPECT_TRUE(close("3"));
}

TEST_F(WrittenFilesTest, DuplicatesShareTheFile) {
  open("3", "O_WRONLY");
  call("dup", "4", {{"fildes", "3"}});
  call("dup2", "5", {{"oldfd", "4"}, {"newfd", "5"}});
  call("fcntl", "6", {{"fd", "5"}, {"cmd", "F_DUPFD_CLOEXEC"}});
  with("write", "6");
  EXPECT_FALSE(close("3"));
  EXPECT_TRUE(close("4")) << "the first one reported";
  with("write", "5");
  EXPECT_FALSE(close("6"));
}

TEST_F(WrittenFilesTest, PipesSocketsAndDevicesKeepNothing) {
  call("pipe2", "0", {});
  with("write", "4");
  EXPECT_TRUE(close("4"));
  call("socket", "5", {});
  with("write", "5");
  EXPECT_TRUE(close("5"));
  open("6", "O_WRONLY", "\"/dev/null\"");
  with("write", "6");
  EXPECT_TRUE(close("6"));
  open("6", "O_RDWR", "/dev/shm/table");
  with("write", "6");
  EXPECT_FALSE(close("6"));
}

TEST_F(WrittenFilesTest, PrintingIsHarmless) {
  EXPECT_TRUE(with("write", "1"));
  EXPECT_TRUE(with("writev", "2"));
  EXPECT_FALSE(with("pwrite64", "1"));
}

}  // namespace
}  // namespace syscost::bench::faults
