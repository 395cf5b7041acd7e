// SPDX-License-Identifier: MIT
//
// The stream of states: complete where it can be, else a sample that is the same in each run; and its words.
#include "extras/crash/states/states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "log_by_hand.h"

namespace syscost::crash {
namespace {

/// Many blocks that can be lost one by one: 2 to the power of `blocks` states.
LogByHand many_blocks(int blocks) {
  LogByHand log;
  log.settings.block_bytes = log.settings.sector_bytes = 1;
  const Node a = log.has("a", std::string(static_cast<std::size_t>(blocks), '.'));
  for (int i = 0; i < blocks; ++i) log.write(a, "x", static_cast<std::uint64_t>(i));
  return log;
}

TEST(CrashStates, AreAllOfThemIfTheyAreFew) {
  const LogByHand log = many_blocks(8);
  const States states = log.states();
  EXPECT_TRUE(states.is_complete);
  EXPECT_EQ(states.states.size(), 256U);
  EXPECT_EQ(log.texts().size(), 256U);
  EXPECT_DOUBLE_EQ(states.combinations_log2, 8);
}

TEST(CrashStates, AreASampleIfTheyAreMany) {
  const LogByHand log = many_blocks(40);
  const States states = log.states(500);
  EXPECT_FALSE(states.is_complete);
  EXPECT_EQ(states.states.size(), 500U);
  EXPECT_EQ(log.texts(500).size(), 500U);
  EXPECT_DOUBLE_EQ(states.combinations_log2, 40);
  EXPECT_EQ(log.texts(500), log.texts(500));
}

TEST(CrashStates, ASampleHasEachPrefixAndEachLackOfOneOperation) {
  const LogByHand log = many_blocks(40);
  const Texts texts = log.texts(500);
  for (std::size_t i = 0; i <= 40; ++i) {
    EXPECT_EQ(texts.count("a=" + std::string(i, 'x') + std::string(40 - i, '.')), 1U) << i;
    if (i == 40) break;
    std::string lacking(40, 'x');
    lacking[i] = '.';
    EXPECT_EQ(texts.count("a=" + lacking), 1U) << i;
    std::string only(40, '.');
    only[i] = 'x';
    EXPECT_EQ(texts.count("a=" + only), 1U) << i;
  }
}

TEST(CrashStates, ASmallLimitEndsSoon) {
  EXPECT_EQ(many_blocks(2000).states(10).states.size(), 10U);
}

TEST(CrashStates, EqualFilesAreOneState) {
  LogByHand log;
  const Node a = log.has("a", "..");
  for (int i = 0; i < 6; ++i) log.write(a, "..");
  const States states = log.states();
  EXPECT_TRUE(states.is_complete);
  EXPECT_EQ(states.states.size(), 1U);
}

TEST(CrashStates, BeginWithThoseThatLostLeast) {
  LogByHand log;
  log.has("f", "old");
  const Node tmp = log.create("t");
  log.write(tmp, "new");
  log.rename(tmp, "t", "f", true);
  const States states = log.states();
  EXPECT_TRUE(std::is_sorted(states.states.begin(), states.states.end(),
                             [](const State& a, const State& b) { return a.lost < b.lost; }));
  EXPECT_EQ(states.states.front().lost, 0U);
}

std::string words_of(const LogByHand& log, const std::string& text) {
  const States states = log.states();
  for (const State& state : states.states) {
    if (log.text_at(state) == text) return describe(log.log, log.plan(), state);
  }
  return "no such state";
}

TEST(CrashStates, AreDescribedByTheCutAndWhatWasLost) {
  LogByHand log;
  log.has("f", "old");
  const Node tmp = log.create("t");
  log.write(tmp, "new");
  log.rename(tmp, "t", "f", true);
  EXPECT_EQ(words_of(log, "f=old"), "power cut before the first operation");
  EXPECT_EQ(words_of(log, "f=new"), "power cut after `rename t -> f`");
  EXPECT_EQ(words_of(log, "f="),
            "power cut after `rename t -> f`; not on the disk: the new size of `write 3 bytes at 0`");
  EXPECT_EQ(words_of(log, "f=000"),
            "power cut after `rename t -> f`; not on the disk: the data of `write 3 bytes at 0`");
}

TEST(CrashStates, AreDescribedByTheBytesThatWereLost) {
  LogByHand log;
  log.settings.block_bytes = log.settings.sector_bytes = 2;
  const Node a = log.has("a", "....");
  log.write(a, "uvwxyz");
  EXPECT_EQ(words_of(log, "a=uv..yz"),
            "power cut after `write 6 bytes at 0`; not on the disk: bytes 2 to 3 of `write 6 "
            "bytes at 0`");
  EXPECT_EQ(words_of(log, "a=..wx"),
            "power cut after `write 6 bytes at 0`; not on the disk: bytes 0 to 1 and the new "
            "size of `write 6 bytes at 0`");
}

TEST(CrashStates, HardLinksAndModesMakeStatesDifferent) {
  Digester digester;
  LogByHand one;
  const Node a = one.has("a", "x");
  LogByHand two = one;
  two.has("b", "x");
  one.image.inodes[kRoot].entries["b"] = a;
  EXPECT_NE(digester.digest(one.image), digester.digest(two.image));
  LogByHand executable = two;
  executable.image.inodes[1].mode = 0755;
  EXPECT_NE(digester.digest(executable.image), digester.digest(two.image));
  EXPECT_EQ(find(one.image, "b"), a);
  EXPECT_EQ(find(one.image, "b/c"), kNoNode);
}

}  // namespace
}  // namespace syscost::crash
