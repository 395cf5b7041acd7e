// SPDX-License-Identifier: MIT
//
// Rules that need the order of calls: each on a trace where it must fire, and on one where it must not.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "findings/rule.h"
#include "findings/traced_window.h"
#include "made_trace.h"

namespace syscost::bench::findings {
namespace {

using testing::MadeTrace;
using Texts = std::vector<std::string>;

std::vector<Hit> hits_of(std::string_view rule, MadeTrace& trace) {
  const TracedWindow window(trace.file());
  return rule_of(rule)->in_trace(window);
}

Texts evidence_of(std::string_view rule, MadeTrace& trace) {
  Texts texts;
  for (const Hit& hit : hits_of(rule, trace)) texts.push_back(hit.evidence);
  return texts;
}

TEST(TinyWritesInOrder, FiresForARowToOneFile) {
  MadeTrace trace;
  trace.open("app.log", 3, "O_WRONLY|O_CREAT").at("at src/log.cc:17 Log::batch+3");
  for (int i = 0; i < 200; ++i) trace.on("write", 3, 50);
  const std::vector<Hit> hits = hits_of("tiny-writes", trace);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].evidence, "200 writes in a row, to app.log, move 50 bytes each on average");
  EXPECT_EQ(hits[0].site, "src/log.cc:17 Log::batch");
  EXPECT_EQ(hits[0].cost_ns, 200'000);
}

TEST(TinyWritesInOrder, LeavesMessagesAndPlacedWritesAlone) {
  MadeTrace trace;
  trace.call("eventfd2", {{"count", "0"}, {"flags", "0"}}, 4).open("data", 3, "O_RDWR");
  for (int i = 0; i < 200; ++i) trace.on("write", 4, 8).on("lseek", 3, i * 1000).on("write", 3, 8);
  EXPECT_EQ(evidence_of("tiny-writes", trace), Texts{});
}

TEST(TinyReadsInOrder, FollowsDescriptorsOverDupAndClose) {
  MadeTrace trace;
  trace.open("old", 3)
      .on("close", 3)
      .open("table", 3)
      .call("dup", {{"fildes", "3"}}, 7)
      .on("close", 3)
      .open("other", 3);
  for (int i = 0; i < 150; ++i) trace.on("read", 7, 4);
  EXPECT_EQ(evidence_of("tiny-reads", trace), Texts{"150 reads in a row, of table, move 4 bytes each on average"});
}

TEST(TinyReadsInOrder, LeavesBlocksAlone) {
  MadeTrace trace;
  trace.open("table", 3);
  for (int i = 0; i < 300; ++i) trace.on("read", 3, 4096);
  EXPECT_EQ(evidence_of("tiny-reads", trace), Texts{});
}

TEST(ReadAmplification, FiresIfBytesAreReadAgain) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) trace.open("settings", 3).on("read", 3, 4096).on("read", 3, 0).on("close", 3);
  EXPECT_EQ(evidence_of("read-amplification", trace),
            Texts{"81920 bytes are read of settings, of which 4096 are different: each byte 20 times"});
}

TEST(ReadAmplification, CountsPlacesAndChanges) {
  MadeTrace placed;
  placed.open("table", 3);
  for (int i = 0; i < 100; ++i) {
    placed.call("pread64", {{"fd", "3"}, {"buf", "0x1"}, {"count", "4096"}, {"pos", std::to_string(i * 4096)}}, 4096);
  }
  EXPECT_EQ(evidence_of("read-amplification", placed), Texts{});
  MadeTrace changing;
  for (int i = 0; i < 100; ++i) {
    changing.open("state", 4, "O_WRONLY|O_CREAT|O_TRUNC").on("write", 4, 4096).on("close", 4);
    changing.open("state", 3).on("read", 3, 4096).on("close", 3);
  }
  EXPECT_EQ(evidence_of("read-amplification", changing), Texts{});
}

TEST(FsyncStormInOrder, FiresForOneFileAndNotForNewOnes) {
  MadeTrace one;
  one.open("log", 3, "O_WRONLY");
  for (int i = 0; i < 30; ++i) one.on("write", 3, 4096).on("fsync", 3);
  EXPECT_EQ(evidence_of("fsync-storm", one), Texts{"30 syncs for 30 writes to log"});
  MadeTrace many;
  for (int i = 0; i < 30; ++i) {
    many.open("table" + std::to_string(i), 3, "O_WRONLY|O_CREAT").on("write", 3, 4096).on("fsync", 3).on("close", 3);
  }
  EXPECT_EQ(evidence_of("fsync-storm", many), Texts{});
}

TEST(SeekThenRead, FiresForPairs) {
  MadeTrace trace;
  trace.open("index", 3);
  for (int i = 0; i < 40; ++i) trace.on("lseek", 3, i * 100).on("read", 3, 100);
  EXPECT_EQ(evidence_of("seek-then-read", trace), Texts{"40 times an lseek goes before a read of index"});
}

TEST(SeekThenRead, LeavesOtherOrdersAlone) {
  MadeTrace trace;
  trace.open("index", 3).open("other", 4);
  for (int i = 0; i < 40; ++i) trace.on("read", 3, 100).on("lseek", 3, i * 100).on("read", 4, 100);
  EXPECT_EQ(evidence_of("seek-then-read", trace), Texts{});
}

void connect_and_send(MadeTrace& trace, int sends) {
  trace.call("socket", {{"family", "AF_INET"}, {"type", "SOCK_STREAM|SOCK_CLOEXEC"}, {"protocol", "IPPROTO_IP"}}, 5);
  trace.on("connect", 5);
  for (int i = 0; i < sends; ++i) trace.on("sendto", 5, 100).on("recvfrom", 5, 100);
  trace.on("close", 5);
}

TEST(ConnectionPerMessage, FiresForShortConnections) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) connect_and_send(trace, 1);
  EXPECT_EQ(evidence_of("connection-per-message", trace), Texts{"20 connections carry one message each"});
}

TEST(ConnectionPerMessage, LeavesConversationsAlone) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) connect_and_send(trace, 5);
  EXPECT_EQ(evidence_of("connection-per-message", trace), Texts{});
}

TEST(MissingPathsInOrder, FiresForOnePathAndForManyFolders) {
  MadeTrace path;
  for (int i = 0; i < 16; ++i) path.missing("/etc/app.conf");
  EXPECT_EQ(evidence_of("missing-paths", path), Texts{"/etc/app.conf is looked for 16 times, and is never there"});
  MadeTrace two;
  for (int i = 0; i < 16; ++i) two.missing("/etc/app.conf").missing("/opt/app.conf");
  EXPECT_EQ(evidence_of("missing-paths", two),
            Texts{"/etc/app.conf and 1 more are looked for 32 times, and are never there"});
  MadeTrace folders;
  for (int i = 0; i < 20; ++i) folders.missing("/lib/" + std::to_string(i) + "/libx.so");
  EXPECT_EQ(evidence_of("missing-paths", folders), Texts{"libx.so is looked for in 20 folders where it is not"});
}

TEST(MissingPathsInOrder, LeavesFilesThatAreMadeAlone) {
  MadeTrace trace;
  for (int i = 0; i < 30; ++i) {
    trace.missing("/tmp/lock").open("/tmp/lock", 3, "O_WRONLY|O_CREAT|O_EXCL").on("close", 3);
    trace.call("unlink", {{"pathname", "\"/tmp/lock\""}}, 0);
  }
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{});
}

TEST(OpenToProbe, FiresForOpensWithoutUse) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) trace.open("f" + std::to_string(i), 3).on("fstat", 3).on("close", 3);
  EXPECT_EQ(evidence_of("open-to-probe", trace),
            Texts{"20 opens of 20 paths (f0, ...) read and write nothing before the close"});
}

TEST(OpenToProbe, LeavesUsesAlone) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) {
    trace.open("read", 3)
        .on("read", 3, 10)
        .on("close", 3)
        .open("mapped", 3)
        .call("mmap", {{"fd", "3"}}, "0x7f00")
        .on("close", 3);
    trace.open("made", 3, "O_WRONLY|O_CREAT").on("close", 3).open("/proc/self/stat", 3).on("close", 3);
  }
  EXPECT_EQ(evidence_of("open-to-probe", trace), Texts{});
}

TEST(ReopenedFile, FiresForReadersAndAppenders) {
  MadeTrace readers;
  for (int i = 0; i < 32; ++i) readers.open("settings", 3).on("read", 3, 10).on("close", 3);
  EXPECT_EQ(evidence_of("reopened-file", readers), Texts{"settings is opened 32 times to read the same content"});
  MadeTrace appenders;
  for (int i = 0; i < 32; ++i) appenders.open("log", 3, "O_WRONLY|O_CREAT|O_APPEND").on("write", 3, 10).on("close", 3);
  EXPECT_EQ(evidence_of("reopened-file", appenders), Texts{"log is opened 32 times to append to it"});
}

TEST(ReopenedFile, LeavesChangedFilesAlone) {
  MadeTrace trace;
  for (int i = 0; i < 60; ++i) {
    trace.open("state", 3, "O_WRONLY|O_CREAT|O_TRUNC").on("write", 3, 10).on("close", 3);
    trace.open("state", 3).on("read", 3, 10).on("close", 3);
  }
  EXPECT_EQ(evidence_of("reopened-file", trace), Texts{});
}

TEST(BusyPollingInOrder, FiresForEmptyPollsYieldsAndRefusals) {
  MadeTrace polls;
  for (int i = 0; i < 70; ++i) polls.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "0"}}, 0);
  EXPECT_EQ(evidence_of("busy-polling", polls), Texts{"70 poll in rows have a timeout of 0 and find nothing"});
  MadeTrace yields;
  for (int i = 0; i < 300; ++i) yields.call("sched_yield", {}, 0);
  EXPECT_EQ(evidence_of("busy-polling", yields).size(), 1U);
  MadeTrace reads;
  for (int i = 0; i < 80; ++i) reads.call("read", {{"fd", "4"}}, "-1 EAGAIN (Resource temporarily unavailable)");
  EXPECT_EQ(evidence_of("busy-polling", reads),
            Texts{"80 read in rows find nothing to do (EAGAIN), without a wait in between"});
}

TEST(BusyPollingInOrder, LeavesLoopsThatWaitAlone) {
  MadeTrace trace;
  for (int i = 0; i < 300; ++i) {
    trace.call("epoll_wait", {{"epfd", "3"}, {"events", "0x1"}, {"maxevents", "8"}, {"timeout", "-1"}}, 1);
    trace.on("read", 4, 8).call("read", {{"fd", "4"}}, "-1 EAGAIN (Resource temporarily unavailable)");
    trace.call("sched_yield", {}, 0);
  }
  EXPECT_EQ(evidence_of("busy-polling", trace), Texts{});
}

TEST(ShortTimeoutsInOrder, FiresForWaitsThatEndByThemselves) {
  MadeTrace trace;
  trace.taking(1'000'000);
  for (int i = 0; i < 40; ++i) trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "1"}}, 0);
  EXPECT_EQ(evidence_of("short-timeouts", trace),
            Texts{"40 poll end after 1.00 ms on average, because their time is over"});
}

TEST(ShortTimeoutsInOrder, LeavesLongWaitsAndAnswersAlone) {
  MadeTrace trace;
  trace.taking(50'000'000);
  for (int i = 0; i < 40; ++i) trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "50"}}, 0);
  trace.taking(1'000'000);
  for (int i = 0; i < 40; ++i) trace.call("poll", {{"ufds", "0x1"}, {"nfds", "1"}, {"timeout_msecs", "50"}}, 1);
  EXPECT_EQ(evidence_of("short-timeouts", trace), Texts{});
}

TEST(SleepInTestInOrder, NamesTheLineThatSleepsLongest) {
  MadeTrace trace;
  trace.taking(60'000'000).at("at test/a.cc:9 TestBody+1").call("clock_nanosleep", {}, 0);
  trace.taking(10'000'000).at("at src/b.cc:5 poll+1").call("clock_nanosleep", {}, 0).call("clock_nanosleep", {}, 0);
  const std::vector<Hit> hits = hits_of("sleep-in-test", trace);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].evidence, "3 sleeps take 80.0 ms");
  EXPECT_EQ(hits[0].site, "test/a.cc:9 TestBody");
}

TEST(SleepInTestInOrder, LeavesShortSleepsAlone) {
  MadeTrace trace;
  trace.taking(1'000'000);
  for (int i = 0; i < 100; ++i) trace.call("clock_nanosleep", {}, 0);
  trace.taking(40'000'000).call("nanosleep", {}, 0);
  EXPECT_EQ(evidence_of("sleep-in-test", trace), Texts{});
}

void wait_for_lock(MadeTrace& trace, const char* value, std::uint32_t thread) {
  trace.call("futex", {{"uaddr", "0x7f01"}, {"op", "FUTEX_WAIT_PRIVATE"}, {"val", value}, {"utime", "NULL"}}, "0",
             thread);
}

TEST(LockConvoy, FiresForWaitsOfSeveralThreads) {
  MadeTrace trace;
  for (std::uint32_t i = 0; i < 80; ++i) wait_for_lock(trace, "2", 17 + i % 4);
  EXPECT_EQ(evidence_of("lock-convoy", trace), Texts{"4 threads wait 80 times for one lock, 1.00 us each on average"});
}

TEST(LockConvoy, LeavesConditionVariablesAndOneThreadAlone) {
  MadeTrace conditions;
  for (std::uint32_t i = 0; i < 80; ++i) wait_for_lock(conditions, "0", 17 + i % 4);
  EXPECT_EQ(evidence_of("lock-convoy", conditions), Texts{});
  MadeTrace one;
  for (int i = 0; i < 80; ++i) wait_for_lock(one, "2", 17);
  EXPECT_EQ(evidence_of("lock-convoy", one), Texts{});
}

void map_and_unmap(MadeTrace& trace, const char* flags, const char* released) {
  trace.call("mmap",
             {{"addr", "NULL"}, {"len", "1048576"}, {"prot", "PROT_READ|PROT_WRITE"}, {"flags", flags}, {"fd", "-1"}},
             "0x7f0000000000");
  trace.call("munmap", {{"addr", "0x7f0000000000"}, {"len", released}}, 0);
}

TEST(AllocatorChurnInOrder, FiresForMemoryThatComesAndGoes) {
  MadeTrace maps;
  for (int i = 0; i < 40; ++i) map_and_unmap(maps, "MAP_PRIVATE|MAP_ANONYMOUS", "1048576");
  EXPECT_EQ(evidence_of("allocator-churn", maps),
            Texts{"40 times memory is mapped and unmapped again, 1048576 bytes each on average"});
  MadeTrace heap;
  heap.call("brk", {{"brk", "NULL"}}, "0x5000");
  for (int i = 0; i < 20; ++i)
    heap.call("brk", {{"brk", "0x9000"}}, "0x9000").call("brk", {{"brk", "0x5000"}}, "0x5000");
  EXPECT_EQ(evidence_of("allocator-churn", heap), Texts{"the heap grows and shrinks again 20 times"});
}

TEST(AllocatorChurnInOrder, LeavesStacksAndPartsAlone) {
  MadeTrace trace;
  for (int i = 0; i < 40; ++i) map_and_unmap(trace, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK", "1048576");
  for (int i = 0; i < 40; ++i) map_and_unmap(trace, "MAP_PRIVATE|MAP_ANONYMOUS", "4096");
  EXPECT_EQ(evidence_of("allocator-churn", trace), Texts{});
}

TEST(TracedWindow, TellsPathsBeforeAndAfterAChdirApart) {
  MadeTrace trace;
  for (int i = 0; i < 10; ++i) trace.missing("settings");
  trace.call("chdir", {{"filename", "\"/tmp\""}}, 0);
  for (int i = 0; i < 10; ++i) trace.missing("settings");
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{});
}

TEST(TracedWindow, BearsNumbersThatNoCallReturns) {
  const std::string most = "9223372036854775807";
  MadeTrace trace;
  trace.open("a", 3).call("lseek", {{"fd", "3"}}, most).call("read", {{"fd", "3"}}, most);
  for (int i = 0; i < 20; ++i) trace.call("read", {{"fd", "3"}}, std::int64_t{1} << 60);
  trace.call("pread64", {{"fd", "3"}, {"pos", most}}, 100).call("read", {{"fd", "99999999999999999999"}}, "?");
  for (const Rule& rule : rules()) {
    if (rule.in_trace != nullptr) hits_of(rule.name, trace);
  }
}

TEST(TracedWindow, FindsFoldersByTheirDescriptors) {
  MadeTrace trace;
  trace.open("/var/lib", 9, "O_RDONLY|O_DIRECTORY");
  for (int i = 0; i < 16; ++i) {
    trace.call("openat", {{"dfd", "9"}, {"filename", "\"x\""}, {"flags", "O_RDONLY"}},
               "-1 ENOENT (No such file or directory)");
  }
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{"/var/lib/x is looked for 16 times, and is never there"});
}

}  // namespace
}  // namespace syscost::bench::findings
