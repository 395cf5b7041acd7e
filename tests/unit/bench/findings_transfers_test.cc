// SPDX-License-Identifier: MIT
//
// Rules of writes, reads, syncs and messages in their order: each on a trace where it must fire, and on one where it
// must not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "findings/rules.h"
#include "findings_in_trace.h"
#include "made_trace.h"

namespace syscost::bench::findings {
namespace {

using testing::evidence_of;
using testing::hits_of;
using testing::MadeTrace;
using testing::notes_of;
using testing::Texts;

TEST(TinyWritesInOrder, FiresForARowToOneFile) {
  MadeTrace trace;
  trace.open("app.log", 3, "O_WRONLY|O_CREAT").at("at src/log.cc:17 Log::batch+3");
  for (int i = 0; i < 600; ++i) trace.in_library(i % 2).on("write", 3, 50);
  const std::vector<Hit> hits = hits_of("tiny-writes", trace);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].evidence, "600 writes in a row, to app.log, move 50 bytes each on average");
  EXPECT_EQ(hits[0].site, "src/log.cc:17 Log::batch");
  EXPECT_EQ(hits[0].cost_ns, 600'000);
  EXPECT_FALSE(hits[0].is_note);
}

TEST(TinyWritesInOrder, LeavesMessagesAndPlacedWritesAlone) {
  MadeTrace trace;
  trace.call("eventfd2", {{"count", "0"}, {"flags", "0"}}, 4).open("data", 3, "O_RDWR");
  for (int i = 0; i < 600; ++i) trace.on("write", 4, 8).on("lseek", 3, i * 1000).on("write", 3, 8);
  EXPECT_EQ(evidence_of("tiny-writes", trace), Texts{});
}

TEST(TinyWritesInOrder, LeavesWritesAloneThatFollowAWait) {
  MadeTrace trace;
  trace.open("app.log", 3, "O_WRONLY|O_CREAT");
  for (int i = 0; i < 600; ++i) trace.call("clock_nanosleep", {}, 0).on("write", 3, 50);
  EXPECT_EQ(evidence_of("tiny-writes", trace), Texts{});
  // Records that are far from each other.
  MadeTrace placed;
  placed.open("table", 3, "O_RDWR");
  for (int i = 0; i < 600; ++i) {
    placed.call("pwrite64", {{"fd", "3"}, {"count", "50"}, {"pos", std::to_string(i * 10'000)}}, 50);
  }
  EXPECT_EQ(evidence_of("tiny-writes", placed), Texts{});
}

TEST(TinyReadsInOrder, FollowsDescriptorsOverDupAndClose) {
  MadeTrace trace;
  trace.open("old", 3)
      .on("close", 3)
      .open("table", 3)
      .call("dup", {{"fildes", "3"}}, 7)
      .on("close", 3)
      .open("other", 3);
  for (int i = 0; i < 1000; ++i) trace.on("read", 7, 4);
  EXPECT_EQ(evidence_of("tiny-reads", trace), Texts{"1000 reads in a row, of table, move 4 bytes each on average"});
}

TEST(TinyReadsInOrder, LeavesBlocksAlone) {
  MadeTrace trace;
  trace.open("table", 3);
  for (int i = 0; i < 600; ++i) trace.on("read", 3, 4096);
  EXPECT_EQ(evidence_of("tiny-reads", trace), Texts{});
}

TEST(FsyncStormInOrder, FiresForOneFileAndNotForNewOnes) {
  MadeTrace one;
  one.open("log", 3, "O_WRONLY");
  for (int i = 0; i < 30; ++i) one.in_library(i % 2).on("write", 3, 4096).on("fsync", 3);
  EXPECT_EQ(evidence_of("fsync-storm", one),
            Texts{"30 syncs for 30 writes to log, with hardly anything else in between"});
  MadeTrace many;
  for (int i = 0; i < 30; ++i) {
    many.open("table" + std::to_string(i), 3, "O_WRONLY|O_CREAT").on("write", 3, 4096).on("fsync", 3).on("close", 3);
  }
  EXPECT_EQ(evidence_of("fsync-storm", many), Texts{});
}

TEST(FsyncStormInOrder, IsANoteForTransactionsOfOthers) {
  MadeTrace trace;
  trace.open("log", 3, "O_WRONLY");
  for (int i = 0; i < 30; ++i) trace.on("recvfrom", 9, 100).on("write", 3, 4096).on("fsync", 3);
  EXPECT_EQ(notes_of("fsync-storm", trace), Texts{"30 syncs for 30 writes to log"});
}

TEST(FsyncStormInOrder, FiresForSyncsOfNothing) {
  MadeTrace trace;
  trace.open("log", 3, "O_WRONLY").on("write", 3, 4096);
  for (int i = 0; i < 9; ++i) trace.in_library(i % 2).on("recvfrom", 9, 100).on("fsync", 3);
  EXPECT_EQ(evidence_of("fsync-storm", trace),
            Texts{"8 of 9 syncs of log come when nothing was written since the sync before"});
  MadeTrace mapped;
  mapped.open("log", 3, "O_RDWR").call("mmap", {{"fd", "3"}}, "0x7f00");
  for (int i = 0; i < 9; ++i) mapped.on("fsync", 3);
  EXPECT_EQ(evidence_of("fsync-storm", mapped), Texts{});
}

TEST(SeekThenRead, FiresForPairs) {
  MadeTrace trace;
  trace.open("index", 3);
  for (int i = 0; i < 80; ++i) {
    trace.in_library(1).on("lseek", 3, i * 100).in_library(2).on("read", 3, 100);
  }
  EXPECT_EQ(evidence_of("seek-then-read", trace), Texts{"80 times an lseek goes before a read of index"});
}

TEST(SeekThenRead, LeavesOtherOrdersAlone) {
  MadeTrace trace;
  trace.open("index", 3).open("other", 4);
  for (int i = 0; i < 80; ++i) trace.on("read", 3, 100).on("lseek", 3, i * 100).on("read", 4, 100);
  EXPECT_EQ(evidence_of("seek-then-read", trace), Texts{});
  MadeTrace ends;
  ends.open("log", 3, "O_WRONLY");
  for (int i = 0; i < 80; ++i) {
    ends.call("lseek", {{"fd", "3"}, {"offset", "0"}, {"whence", "SEEK_END"}}, i * 100).on("write", 3, 100);
  }
  EXPECT_EQ(evidence_of("seek-then-read", ends), Texts{});
}

void connect_and_send(MadeTrace& trace, int sends) {
  trace.call("socket", {{"family", "AF_INET"}, {"type", "SOCK_STREAM|SOCK_CLOEXEC"}, {"protocol", "IPPROTO_IP"}}, 5);
  trace.on("connect", 5);
  for (int i = 0; i < sends; ++i) trace.on("sendto", 5, 100).on("recvfrom", 5, 100);
  trace.on("close", 5);
}

TEST(ConnectionPerMessage, IsANoteForShortConnections) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) connect_and_send(trace, 1);
  EXPECT_EQ(notes_of("connection-per-message", trace), Texts{"20 connections carry one message each"});
}

TEST(ConnectionPerMessage, LeavesConversationsAlone) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) connect_and_send(trace, 5);
  EXPECT_EQ(notes_of("connection-per-message", trace), Texts{});
}

}  // namespace
}  // namespace syscost::bench::findings
