// SPDX-License-Identifier: MIT
//
// The working folder of a contained run: what is copied, what is linked, and which changes are named.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "contained_runs.h"
#include "faults/run_folder.h"

namespace syscost::bench::faults {
namespace {

TEST_F(ContainedRunIn, CopiesItsWorkingFolderWithoutItsOwnFolderAndFifos) {
  fs::create_directories(folder_ / "data" / "tmp");
  std::ofstream(folder_ / "data" / "text") << "seen\n";
  fs::create_symlink("data/text", folder_ / "link");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  ::setenv("TMPDIR", (folder_ / "data" / "tmp").c_str(), 1);
  ContainedRuns runs;
  ContainedCommand command = shell("ls . data data/tmp; cat link; echo x >data/text");
  command.folder = WorkingFolder::copy;
  const ContainedEnd end = end_of(runs, command);
  EXPECT_EQ(end.fault, "");
  EXPECT_EQ(end.output, ".:\ndata\nlink\n\ndata:\ntext\ntmp\n\ndata/tmp:\nseen\n");
  std::string left;
  std::ifstream(folder_ / "data" / "text") >> left;
  EXPECT_EQ(left, "seen");
}

TEST_F(ContainedRunIn, WritesToCopiesOfItsFiles) {
  fs::create_directories(folder_ / "data" / "deep");
  std::ofstream(folder_ / "data" / "text") << "seen\n";
  std::ofstream(folder_ / "top") << "seen\n";
  fs::permissions(folder_ / "data" / "deep", fs::perms::owner_read | fs::perms::owner_exec);
  const FolderScan before = scan_folder(folder_, kMostScanned, {});
  ContainedRuns runs;
  const ContainedEnd end =
      end_of(runs, shell("cat data/text top; stat -c %a data/deep; echo x >data/text; echo x >>top; "
                         "mkdir data/x; touch data/made; chmod 700 data; mv data moved; rm top"));
  EXPECT_EQ(end.report.refusal + end.fault, "");
  EXPECT_EQ(end.output, "seen\nseen\n500\n");
  EXPECT_EQ(WEXITSTATUS(end.status), 0);
  EXPECT_EQ(differences(before, scan_folder(folder_, kMostScanned, {})), std::vector<std::string>());
  fs::permissions(folder_ / "data" / "deep", fs::perms::owner_all);
}

TEST_F(ContainedRunIn, LeavesOutOfTheCopyWhatIsGoneSinceTheFolderWasListed) {
  fs::create_directories(folder_ / "data" / "deep");
  fs::create_directory(folder_ / "now_a_file");
  for (const char* name : {"left", "gone", "data/deep/text", "now_a_file/text"}) {
    std::ofstream(folder_ / name) << name << '\n';
  }
  fs::create_symlink("left", folder_ / "link");
  ContainedRuns runs;
  EXPECT_EQ(end_of(runs, shell("cat gone data/deep/text")).output, "gone\ndata/deep/text\n");
  for (const char* name : {"gone", "data", "now_a_file", "link"}) fs::remove_all(folder_ / name);
  std::ofstream(folder_ / "now_a_file").flush();
  const ContainedEnd end = end_of(runs, shell("cat left; ls gone link data/deep/text now_a_file/text 2>/dev/null"));
  EXPECT_EQ(end.fault, "");
  EXPECT_EQ(end.output, "left\n");
}

TEST_F(ContainedRunIn, CopiesKeepTheirTimesAndTheirLinks) {
  fs::create_directories(folder_ / "data");
  std::ofstream(folder_ / "data" / "text") << "inside\n";
  std::ofstream(before_ / "contained_outside") << "outside\n";
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "data" / "text").c_str(), times, 0), 0);
  fs::create_symlink("text", folder_ / "data" / "relative");
  fs::create_symlink(folder_ / "data" / "text", folder_ / "absolute");
  fs::create_symlink("../" + folder_.filename().string() + "/data/text", folder_ / "around");
  fs::create_symlink("../contained_outside", folder_ / "outside");
  fs::create_symlink("nowhere", folder_ / "dangling");
  ContainedRuns runs;
  const ContainedEnd end = end_of(
      runs, shell("stat -c %Y data/text; echo x >>absolute; cat around data/relative outside; readlink dangling"));
  EXPECT_EQ(end.output, "1000\ninside\nx\ninside\nx\noutside\nnowhere\n");
  std::string left;
  std::ifstream(folder_ / "data" / "text") >> left;
  EXPECT_EQ(left, "inside");
  EXPECT_EQ(fs::file_size(folder_ / "data" / "text"), 7U);
  fs::remove(before_ / "contained_outside");
}

TEST_F(ContainedRunIn, LinksFilesThatAreTooLargeToBeCopied) {
  std::ofstream(folder_ / "small") << "small\n";
  std::ofstream(folder_ / "large") << "large\n";
  fs::resize_file(folder_ / "large", kMostCopiedBytes);  // with the small one it is too much
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("readlink large; readlink small; cat small"));
  EXPECT_EQ(end.output, (folder_ / "large").string() + "\nsmall\n");
}

TEST_F(ContainedRunIn, LinksTheFoldersWithMostEntries) {
  fs::create_directories(folder_ / "many" / "files");
  for (std::size_t i = 0; i < kMostCopiedEntries; ++i) {
    std::ofstream(folder_ / "many" / "files" / std::to_string(i)).flush();
  }
  fs::create_directory(folder_ / "few");
  std::ofstream(folder_ / "few" / "one").flush();
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("readlink many; readlink few; ls few"));
  EXPECT_EQ(end.output, (folder_ / "many").string() + "\none\n");
}

TEST_F(ContainedRunIn, DifferencesNameWhatWasMadeChangedAndRemoved) {
  fs::create_directories(folder_ / "data" / "gone");
  for (const char* name : {"same", "written", "data/gone/file", "moded"}) std::ofstream(folder_ / name) << "text\n";
  std::ofstream(folder_ / "own") << "text\n";
  struct stat own {};
  ASSERT_EQ(::stat((folder_ / "own").c_str(), &own), 0);
  const std::vector<FileId> left_out = {{own.st_dev, own.st_ino}};
  const FolderScan before = scan_folder(folder_, kMostScanned, left_out);
  EXPECT_TRUE(before.is_whole);
  EXPECT_FALSE(scan_folder(folder_, 2, {}).is_whole);
  fs::create_directories(folder_ / "data" / "made" / "deep");
  fs::remove_all(folder_ / "data" / "gone");
  fs::permissions(folder_ / "moded", fs::perms::owner_read);
  std::ofstream(folder_ / "own") << "other\n";
  // A file that was written over, and given its old times.
  struct stat old {};
  ASSERT_EQ(::stat((folder_ / "written").c_str(), &old), 0);
  std::ofstream(folder_ / "written") << "TEXT\n";
  const timespec times[2] = {old.st_atim, old.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "written").c_str(), times, 0), 0);
  EXPECT_EQ(
      differences(before, scan_folder(folder_, kMostScanned, left_out)),
      (std::vector<std::string>{"removed: data/gone/", "made: data/made/", "changed: moded", "changed: written"}));
}

TEST_F(ContainedRunIn, WhatIsKnownToChangeIsNoDifference) {
  const std::vector<std::string> known = {"changed: a.gcda", "made: Testing/", "changed: data/", "made: run-7.raw"};
  EXPECT_EQ(without_known({"changed: a.gcda", "removed: a.gcda", "made: Testing/log", "removed: Testing/",
                           "changed: data/x", "made: run-1234.raw", "changed: run-8.raw", "made: a.gcda.new"},
                          known),
            (std::vector<std::string>{"changed: data/x", "changed: run-8.raw", "made: a.gcda.new"}));
}

TEST_F(ContainedRunIn, WhatAProgramHasOpenForWritingCanBeLeftOut) {
  for (const char* name : {"read", "written", "other"}) std::ofstream(folder_ / name) << "text\n";
  FolderScan before = scan_folder(folder_, kMostScanned, {});
  std::ofstream log(folder_ / "written", std::ios::app);
  const std::ofstream made(folder_ / "made");
  const std::ifstream read(folder_ / "read");
  log << "more" << std::flush;
  std::ofstream(folder_ / "other") << "more\n";
  std::ofstream(folder_ / "read", std::ios::app) << "more\n";
  FolderScan after = scan_folder(folder_, kMostScanned, {});
  leave_out(files_open_for_writing(), before, after);
  EXPECT_EQ(differences(before, after), (std::vector<std::string>{"changed: other", "changed: read"}));
}

}  // namespace
}  // namespace syscost::bench::faults
