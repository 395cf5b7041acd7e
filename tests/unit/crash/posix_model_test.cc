// SPDX-License-Identifier: MIT
//
// Sets of states that were derived by hand from docs/crash-states.md: model posix.
#include <gtest/gtest.h>

#include <string>

#include "log_by_hand.h"

namespace syscost::crash {
namespace {

TEST(PosixModel, NothingDoneHasOneState) {
  LogByHand log;
  log.has("a", "old");
  EXPECT_EQ(log.texts(), (Texts{"a=old"}));
  EXPECT_TRUE(log.states().is_complete);
}

TEST(PosixModel, ANewFileMayLackItsEntryItsSizeAndItsData) {
  LogByHand log;
  log.write(log.create("a"), "xy");
  EXPECT_EQ(log.texts(), (Texts{"", "a=", "a=00", "a=xy"}));
}

TEST(PosixModel, FsyncPersistsAFileAndNotItsEntry) {
  LogByHand log;
  const Node a = log.create("a");
  log.write(a, "xy");
  log.sync(a);
  log.mark("synced");
  log.log.pop_back();
  EXPECT_EQ(log.texts(), (Texts{"", "a=", "a=00", "a=xy"}));
  log.sync_folder();
  log.mark("saved");
  EXPECT_EQ(log.texts(), (Texts{"", "a=", "a=00", "a=xy", "a=xy [saved]"}));
}

TEST(PosixModel, ARenameBeforeTheFsyncMayLeaveAnEmptyFile) {
  LogByHand log;
  log.has("f", "old");
  const Node tmp = log.create("t");
  log.write(tmp, "new");
  log.rename(tmp, "t", "f", true);
  EXPECT_EQ(log.texts(), (Texts{"f=old", "f=old t=", "f=old t=000", "f=old t=new", "f=", "f=000", "f=new"}));
}

/// A new file takes the place of `f`, with an fsync before the rename.
LogByHand replacing_after_fsync() {
  LogByHand log;
  log.has("f", "old");
  const Node tmp = log.create("t");
  log.write(tmp, "new");
  log.sync(tmp);
  log.rename(tmp, "t", "f", true);
  return log;
}

TEST(PosixModel, AnFsyncBeforeTheRenameLeavesTheOldFileOrTheNewOne) {
  LogByHand log = replacing_after_fsync();
  EXPECT_EQ(log.texts(), (Texts{"f=old", "f=old t=", "f=old t=000", "f=old t=new", "f=new"}));
}

TEST(PosixModel, ARenameIsOnTheDiskAfterAnFsyncOfTheDirectory) {
  LogByHand log = replacing_after_fsync();
  log.mark("renamed");
  log.sync_folder();
  log.mark("saved");
  Texts after;
  for (const std::string& text : log.texts()) {
    if (text.find("[saved]") != std::string::npos) after.insert(text);
  }
  EXPECT_EQ(after, (Texts{"f=new [renamed] [saved]"}));
  EXPECT_EQ(log.texts().count("f=old [renamed]"), 1U);
}

TEST(PosixModel, BlocksOfAFileArePersistedInAnyOrder) {
  LogByHand log;
  log.settings.block_bytes = log.settings.sector_bytes = 2;
  const Node a = log.has("a", "....");
  log.write(a, "wxyz");
  EXPECT_EQ(log.texts(), (Texts{"a=....", "a=wx..", "a=..yz", "a=wxyz"}));
}

TEST(PosixModel, TheLastBlockOfAWriteMayBeTorn) {
  LogByHand log;
  log.settings.block_bytes = 4;
  log.settings.sector_bytes = 2;
  const Node a = log.has("a", "........");
  log.write(a, "stuvwxyz");
  EXPECT_EQ(log.texts(), (Texts{"a=........", "a=stuv....", "a=....wx..", "a=......yz", "a=stuvwx..", "a=stuv..yz",
                                "a=....wxyz", "a=stuvwxyz"}));
}

TEST(PosixModel, ChangesOfOneBlockTakeEffectInOrder) {
  LogByHand log;
  const Node a = log.has("a", "..");
  log.write(a, "x", 0);
  log.write(a, "y", 1);
  EXPECT_EQ(log.texts(), (Texts{"a=..", "a=x.", "a=xy"}));
}

TEST(PosixModel, ChangesOfOneNameTakeEffectInOrderAndOthersInAnyOrder) {
  LogByHand log;
  const Node a = log.has("a", "1");
  log.rename(a, "a", "b", false);
  log.rename(a, "b", "c", false);
  EXPECT_EQ(log.texts(), (Texts{"a=1", "b=1", "c=1"}));

  LogByHand linked;
  const Node f = linked.has("f", "1");
  linked.link(f, "g");
  linked.unlink(f, "f");
  EXPECT_EQ(linked.texts(), (Texts{"f=1", "f=1 g=1", "g=1", ""}));
}

TEST(PosixModel, AFileInANewDirectoryIsLostWithTheDirectory) {
  LogByHand log;
  const Node folder = log.make_folder("d");
  const Node a = log.create("a", folder);
  log.sync(a);
  log.sync_folder(folder);
  EXPECT_EQ(log.texts(), (Texts{"", "d/", "d/ d/a="}));
  log.sync_folder();
  log.mark("saved");
  EXPECT_EQ(log.texts(), (Texts{"", "d/", "d/ d/a=", "d/ d/a= [saved]"}));
}

TEST(PosixModel, WhatIsWrittenAfterATruncationNeedsIt) {
  LogByHand log;
  const Node a = log.has("a", "old!");
  log.resize(a, 0);
  log.write(a, "xy");
  EXPECT_EQ(log.texts(), (Texts{"a=old!", "a=", "a=00", "a=xy"}));
}

TEST(PosixModel, AFileGrowsBlockByBlock) {
  LogByHand log;
  log.settings.block_bytes = log.settings.sector_bytes = 2;
  const Node a = log.has("a", ".");
  log.write(a, "xyz", 1);
  EXPECT_EQ(log.texts(), (Texts{"a=.", "a=.0", "a=.x", "a=.000", "a=.x00", "a=.0yz", "a=.xyz"}));
}

TEST(PosixModel, BeyondANewEndTheRestOfItsBlockBecomesZeroFirst) {
  LogByHand log;
  log.settings.block_bytes = log.settings.sector_bytes = 4;
  const Node a = log.has("a", "abcdefgh");
  log.resize(a, 1);
  EXPECT_EQ(log.texts(), (Texts{"a=abcdefgh", "a=a000efgh", "a=a"}));
  log.sync(a);
  log.mark("synced");
  EXPECT_EQ(log.texts(), (Texts{"a=abcdefgh", "a=a000efgh", "a=a", "a=a [synced]"}));
}

TEST(PosixModel, ASynchronousWriteIsOnTheDiskAndEarlierOnesNeedNotBe) {
  LogByHand log;
  log.settings.block_bytes = log.settings.sector_bytes = 2;
  const Node a = log.has("a", "....");
  log.write(a, "st");
  log.write(a, "yz", 2, true);
  log.mark("written");
  EXPECT_EQ(log.texts(), (Texts{"a=....", "a=st..", "a=..yz", "a=styz", "a=..yz [written]", "a=styz [written]"}));
}

TEST(PosixModel, SyncPersistsEverything) {
  LogByHand log;
  log.write(log.create("a"), "xy");
  log.sync_everything();
  log.mark("synced");
  EXPECT_EQ(log.texts(), (Texts{"", "a=", "a=00", "a=xy", "a=xy [synced]"}));
}

TEST(PosixModel, AnFsyncThatBeganBeforeTheWriteEndedDoesNotPersistIt) {
  LogByHand log;
  const Node a = log.has("a", "..");
  log.write(a, "xy");
  log.sync(a);
  log.mark("synced");
  log.log[0].begun = 1;
  log.log[0].ended = 3;
  log.log[1].begun = 2;  // another thread's
  log.log[1].ended = 4;
  log.log[2].begun = log.log[2].ended = 5;
  EXPECT_EQ(log.texts(), (Texts{"a=..", "a=xy", "a=.. [synced]", "a=xy [synced]"}));
  log.log[1].begun = 4;
  log.log[1].ended = 4;
  EXPECT_EQ(log.texts(), (Texts{"a=..", "a=xy", "a=xy [synced]"}));
}

}  // namespace
}  // namespace syscost::crash
