// SPDX-License-Identifier: MIT
//
// Sets of states that were derived by hand from docs/crash-states.md: model ordered.
#include <gtest/gtest.h>

#include <string>

#include "log_by_hand.h"

namespace syscost::crash {
namespace {

LogByHand ordered() {
  LogByHand log;
  log.settings.model = CrashModel::ordered;
  return log;
}

TEST(OrderedModel, AFileGrowsAfterItsNameAndPerhapsBeforeItsData) {
  LogByHand log = ordered();
  log.write(log.create("a"), "xy");
  EXPECT_EQ(log.texts(), (Texts{"", "a=", "a=00", "a=xy"}));
}

TEST(OrderedModel, ALastBlockThatIsPartlyFullMayGrowBeforeItsData) {
  LogByHand log = ordered();
  const Node a = log.has("a", "..");
  log.write(a, "xy", 2);
  EXPECT_EQ(log.texts(), (Texts{"a=..", "a=..00", "a=..xy"}));
}

TEST(OrderedModel, EntriesArePersistedInOrder) {
  LogByHand log = ordered();
  const Node f = log.has("f", "1");
  log.link(f, "g");
  log.unlink(f, "f");
  EXPECT_EQ(log.texts(), (Texts{"f=1", "f=1 g=1", "g=1"}));
}

TEST(OrderedModel, ARenameOverAFileWaitsForItsSizeAndNotForItsData) {
  LogByHand log = ordered();
  log.has("f", "old");
  const Node tmp = log.create("t");
  log.write(tmp, "new");
  log.rename(tmp, "t", "f", true);
  EXPECT_EQ(log.texts(), (Texts{"f=old", "f=old t=", "f=old t=000", "f=old t=new", "f=000", "f=new"}));
}

TEST(OrderedModel, ARenameToANewNameWaitsForNothing) {
  LogByHand log = ordered();
  const Node tmp = log.create("t");
  log.write(tmp, "new");
  log.rename(tmp, "t", "f", false);
  EXPECT_EQ(log.texts(), (Texts{"", "t=", "t=000", "t=new", "f=", "f=000", "f=new"}));
}

TEST(OrderedModel, FsyncOfANewFilePersistsItsEntryAndAllEntriesBefore) {
  LogByHand log = ordered();
  static_cast<void>(log.create("before"));
  const Node a = log.create("a");
  log.write(a, "xy");
  static_cast<void>(log.create("later"));
  log.sync(a);
  log.mark("synced");
  Texts after;
  for (const std::string& text : log.texts()) {
    if (text.find("[synced]") != std::string::npos) after.insert(text);
  }
  EXPECT_EQ(after, (Texts{"a=xy before= [synced]", "a=xy before= later= [synced]"}));
}

TEST(OrderedModel, FsyncOfAnOldFilePersistsNoEntry) {
  LogByHand log = ordered();
  const Node a = log.has("a", "..");
  static_cast<void>(log.create("b"));
  log.write(a, "xy");
  log.sync(a);
  log.mark("synced");
  EXPECT_EQ(log.texts().count("a=xy [synced]"), 1U);
}

TEST(OrderedModel, FsyncOfADirectoryPersistsEntriesAndNoData) {
  LogByHand log = ordered();
  log.write(log.create("a"), "xy");
  log.sync_folder();
  log.mark("synced");
  EXPECT_EQ(log.texts(), (Texts{"", "a=", "a=00", "a=xy", "a= [synced]", "a=00 [synced]", "a=xy [synced]"}));
}

TEST(OrderedModel, BlocksThatAreOverwrittenArePersistedInAnyOrder) {
  LogByHand log = ordered();
  log.settings.block_bytes = log.settings.sector_bytes = 2;
  const Node a = log.has("a", "....");
  log.write(a, "wxyz");
  EXPECT_EQ(log.texts(), (Texts{"a=....", "a=wx..", "a=..yz", "a=wxyz"}));
}

}  // namespace
}  // namespace syscost::crash
