// SPDX-License-Identifier: MIT
//
// Rules that need the order of calls: each on a trace where it must fire, and on one where it must not.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "csv_text.h"
#include "findings/find.h"
#include "findings/rule.h"
#include "findings_in_trace.h"
#include "loaded.h"
#include "made_trace.h"
#include "model/group.h"
#include "stats/window_stream.h"

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

TEST(ReadAmplification, FiresIfBytesAreReadAgain) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) trace.open("/etc/services", 3).on("read", 3, 4096).on("read", 3, 0).on("close", 3);
  EXPECT_EQ(evidence_of("read-amplification", trace),
            Texts{"81920 bytes are read of /etc/services, of which 4096 are different: each byte 20 times"});
}

TEST(ReadAmplification, IsANoteForFilesOfTheProgram) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) trace.open("settings", 3).on("read", 3, 4096).on("read", 3, 0).on("close", 3);
  EXPECT_EQ(notes_of("read-amplification", trace).size(), 1U);
}

TEST(ReadAmplification, IsANoteIfOtherThingsAreDoneInBetween) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) {
    trace.open("/etc/services", 3).on("read", 3, 4096).on("read", 3, 0).on("close", 3);
    for (int other = 0; other < 20; ++other) trace.call("getrandom", {}, 16);
  }
  EXPECT_EQ(notes_of("read-amplification", trace).size(), 1U);
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

TEST(MissingPathsInOrder, FiresForOnePathAndForManyFolders) {
  MadeTrace path;
  for (int i = 0; i < 16; ++i) path.missing("/etc/app.conf");
  EXPECT_EQ(evidence_of("missing-paths", path), Texts{"/etc/app.conf is looked for 16 times, and is never there"});
  MadeTrace two;
  for (int i = 0; i < 16; ++i) two.missing("/etc/app.conf").missing("/opt/app.conf");
  EXPECT_EQ(evidence_of("missing-paths", two),
            Texts{"/etc/app.conf and 1 more are looked for 32 times, and are never there"});
}

TEST(MissingPathsInOrder, IsANoteForFilesOfTheProgram) {
  MadeTrace trace;
  for (int i = 0; i < 16; ++i) trace.missing("repository/.git/packed-refs").missing("/tmp/app.conf");
  EXPECT_EQ(notes_of("missing-paths", trace),
            Texts{"/tmp/app.conf and 1 more are looked for 32 times, and are never there"});
  MadeTrace both;
  for (int i = 0; i < 16; ++i) both.missing("/etc/app.conf").missing("/tmp/app.conf");
  EXPECT_EQ(evidence_of("missing-paths", both), Texts{"/etc/app.conf is looked for 16 times, and is never there"});
}

TEST(MissingPathsInOrder, IsANoteInAFolderThatTheWindowChangesOrEnters) {
  MadeTrace made;
  made.call("mkdir", {{"pathname", "\"/opt/project/build\""}}, 0);
  for (int i = 0; i < 16; ++i) made.missing("/opt/project/app.conf");
  EXPECT_EQ(notes_of("missing-paths", made).size(), 1U);
  MadeTrace entered;
  entered.call("chdir", {{"filename", "\"/usr/src/project\""}}, 0);
  for (int i = 0; i < 16; ++i) entered.missing("/usr/src/project/app.conf");
  EXPECT_EQ(notes_of("missing-paths", entered).size(), 1U);
  MadeTrace up;
  for (int i = 0; i < 16; ++i) up.missing("/usr/../tmp/app.conf");
  EXPECT_EQ(notes_of("missing-paths", up).size(), 1U);
}

void search(MadeTrace& trace) {
  for (int i = 0; i < 20; ++i) {
    trace.missing("/lib/" + std::to_string(i) + "/x86/libx.so").missing("/lib/" + std::to_string(i) + "/x86");
  }
}

TEST(MissingPathsInOrder, IsANoteForSearches) {
  MadeTrace once;
  search(once);
  EXPECT_EQ(notes_of("missing-paths", once), Texts{"libx.so is looked for in 20 folders where it is not"});
  MadeTrace again;
  for (int i = 0; i < 8; ++i) search(again);
  EXPECT_EQ(notes_of("missing-paths", again), Texts{"libx.so is looked for in 20 folders where it is not, 8 times"});
}

TEST(MissingPathsInOrder, LeavesLooksAloneThatOthersMayAnswer) {
  MadeTrace locked;
  for (int i = 0; i < 30; ++i) {
    locked.missing("/tmp/journal").call("fcntl", {{"fd", "3"}, {"cmd", "F_SETLK"}}, 0);
  }
  EXPECT_EQ(evidence_of("missing-paths", locked), Texts{});
  MadeTrace polled;
  for (int i = 0; i < 30; ++i) polled.missing("/tmp/ready").call("clock_nanosleep", {}, 0);
  EXPECT_EQ(evidence_of("missing-paths", polled), Texts{});
}

TEST(MissingPathsInOrder, LeavesFilesThatAreMadeAlone) {
  MadeTrace trace;
  for (int i = 0; i < 30; ++i) {
    trace.missing("/tmp/lock").open("/tmp/lock", 3, "O_WRONLY|O_CREAT|O_EXCL").on("close", 3);
    trace.call("unlink", {{"pathname", "\"/tmp/lock\""}}, 0);
  }
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{});
}

TEST(OpenToProbe, IsANoteForOpensWithoutUse) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) trace.open("f" + std::to_string(i), 3).on("fstat", 3).on("close", 3);
  EXPECT_EQ(notes_of("open-to-probe", trace),
            Texts{"20 opens of 20 paths (f0, ...) read and write nothing before the close"});
}

TEST(OpenToProbe, LeavesFilesAloneThatAreHeldOpen) {
  MadeTrace trace;
  for (int i = 0; i < 20; ++i) trace.open("lock", 3).call("getrandom", {}, 16).on("close", 3);
  EXPECT_EQ(notes_of("open-to-probe", trace), Texts{});
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
  EXPECT_EQ(notes_of("open-to-probe", trace), Texts{});
}

TEST(ReopenedFile, FiresForReadersAndAppenders) {
  MadeTrace readers;
  for (int i = 0; i < 32; ++i) readers.open("/etc/hosts", 3).on("read", 3, 10).on("close", 3);
  EXPECT_EQ(evidence_of("reopened-file", readers), Texts{"/etc/hosts is opened 32 times to read the same content"});
  MadeTrace appenders;
  for (int i = 0; i < 32; ++i) {
    appenders.in_library(1).open("log", 3, "O_WRONLY|O_CREAT|O_APPEND").on("write", 3, 10);
    appenders.in_library(2).on("close", 3);
  }
  EXPECT_EQ(evidence_of("reopened-file", appenders), Texts{"log is opened 32 times to append to it"});
}

TEST(ReopenedFile, IsANoteForFilesOfTheProgram) {
  MadeTrace trace;
  for (int i = 0; i < 32; ++i) trace.open("/dev/shm/settings", 3).on("read", 3, 10).on("close", 3);
  EXPECT_EQ(notes_of("reopened-file", trace), Texts{"/dev/shm/settings is opened 32 times to read the same content"});
  MadeTrace device;
  for (int i = 0; i < 32; ++i) device.open("/dev/urandom", 3).on("read", 3, 10).on("close", 3);
  EXPECT_EQ(notes_of("reopened-file", device), Texts{});
}

TEST(ReopenedFile, IsANoteIfOtherThingsAreDoneInBetween) {
  MadeTrace trace;
  for (int i = 0; i < 32; ++i) {
    trace.open("/etc/hosts", 3).on("read", 3, 10).on("close", 3);
    for (int other = 0; other < 20; ++other) trace.call("getrandom", {}, 16);
  }
  EXPECT_EQ(notes_of("reopened-file", trace), Texts{"/etc/hosts is opened 32 times to read the same content"});
}

TEST(ReopenedFile, LeavesChangedFilesAlone) {
  MadeTrace trace;
  for (int i = 0; i < 60; ++i) {
    trace.open("state", 3, "O_WRONLY|O_CREAT|O_TRUNC").on("write", 3, 10).on("close", 3);
    trace.open("state", 3).on("read", 3, 10).on("close", 3);
  }
  EXPECT_EQ(evidence_of("reopened-file", trace), Texts{});
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
  EXPECT_EQ(
      evidence_of("allocator-churn", maps),
      Texts{"39 times memory is unmapped, and the next mapping could have used it, 1048576 bytes each on average"});
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

TEST(AllocatorChurnInOrder, LeavesMemoryAloneThatAnAllocatorOfTheProgramMaps) {
  MadeTrace fixed;
  for (int i = 0; i < 40; ++i) map_and_unmap(fixed, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", "1048576");
  EXPECT_EQ(evidence_of("allocator-churn", fixed), Texts{});
  // Guard pages; a mapping of malloc's before each of them.
  MadeTrace guarded;
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0) map_and_unmap(guarded, "MAP_PRIVATE|MAP_ANONYMOUS", "1048576");
    guarded.call("mmap",
                 {{"addr", "NULL"},
                  {"len", "12288"},
                  {"prot", "PROT_READ|PROT_WRITE"},
                  {"flags", "MAP_PRIVATE|MAP_ANONYMOUS"},
                  {"fd", "-1"}},
                 "0x7f0000000000");
    guarded.call("mprotect", {{"start", "0x7f0000002000"}, {"len", "4096"}, {"prot", "PROT_NONE"}}, 0);
    guarded.call("munmap", {{"addr", "0x7f0000000000"}, {"len", "12288"}}, 0);
  }
  EXPECT_EQ(evidence_of("allocator-churn", guarded), Texts{});
  // mprotect of other memory.
  MadeTrace beside;
  for (int i = 0; i < 40; ++i) {
    map_and_unmap(beside, "MAP_PRIVATE|MAP_ANONYMOUS", "1048576");
    beside.call("mprotect", {{"start", "0x7f0000000000"}, {"len", "4096"}, {"prot", "PROT_NONE"}}, 0);
  }
  EXPECT_EQ(evidence_of("allocator-churn", beside).size(), 1U);
}

TEST(AllocatorChurnInOrder, LeavesMemoryAloneThatIsHeldTogether) {
  MadeTrace trace;
  const auto address = [](int i) { return "0x7f" + std::to_string(100 + i) + "000"; };
  for (int i = 0; i < 40; ++i) {
    trace.call("mmap", {{"addr", "NULL"}, {"len", "4096"}, {"prot", "PROT_READ"}, {"flags", "MAP_ANONYMOUS"}},
               address(i));
  }
  for (int i = 0; i < 40; ++i) trace.call("munmap", {{"addr", address(i)}, {"len", "4096"}}, 0);
  EXPECT_EQ(evidence_of("allocator-churn", trace), Texts{});
}

TEST(FailingCallsInOrder, FiresForMisuse) {
  for (const char* error : {"EBADF", "EFAULT", "ENOTSOCK"}) {
    MadeTrace trace;
    for (int i = 0; i < 21; ++i) trace.call("getsockopt", {{"fd", "3"}}, std::string("-1 ") + error + " (...)");
    const std::vector<Hit> hits = hits_of("failing-calls", trace);
    ASSERT_EQ(hits.size(), 1U) << error;
    EXPECT_EQ(hits[0].evidence, std::string("getsockopt fails 20 times more in the same way (") + error + ")");
    EXPECT_TRUE(hits[0].counts_at_any_cost);
    EXPECT_FALSE(hits[0].is_note);
  }
  // A double close: the number is another file each time.
  MadeTrace twice;
  for (int i = 0; i < 21; ++i) {
    twice.open("data", 3).on("close", 3).call("close", {{"fd", "3"}}, "-1 EBADF (Bad file descriptor)");
  }
  EXPECT_EQ(evidence_of("failing-calls", twice), Texts{"close fails 20 times more in the same way (EBADF)"});
}

TEST(FailingCallsInOrder, IsANoteForOtherErrors) {
  MadeTrace trace;
  for (int i = 0; i < 21; ++i) trace.call("mkdir", {{"pathname", "\"/tmp/db\""}}, "-1 EEXIST (File exists)");
  EXPECT_EQ(notes_of("failing-calls", trace), Texts{"mkdir of /tmp/db fails 20 times more in the same way (EEXIST)"});
  MadeTrace others;
  for (int i = 0; i < 40; ++i) {
    others.call("mkdir", {{"pathname", "\"/tmp/" + std::to_string(i) + "\""}}, "-1 EEXIST (File exists)");
  }
  EXPECT_EQ(notes_of("failing-calls", others), Texts{});
}

void stat_of(MadeTrace& trace, const std::string& path) {
  trace.call("newfstatat", {{"dfd", "AT_FDCWD"}, {"filename", '"' + path + '"'}, {"statbuf", "0x7f00"}}, 0);
}

TEST(ManyCallsInOrder, FiresForTheSameAnswer) {
  MadeTrace trace;
  for (int i = 0; i < 1001; ++i)
    stat_of(trace.open("log", 3, "O_WRONLY|O_APPEND").on("write", 3, 80), "/etc/localtime");
  EXPECT_EQ(evidence_of("many-calls", trace),
            Texts{"newfstatat of /etc/localtime is asked 1000 times more, and the answer is the same"});
  MadeTrace changing;
  for (int i = 0; i < 1200; ++i) {
    stat_of(changing, "log");
    changing.open("log", 3, "O_WRONLY|O_APPEND").on("write", 3, 80).on("close", 3);
  }
  EXPECT_EQ(hits_of("many-calls", changing).size(), 0U);
}

TEST(ManyCallsInOrder, IsANoteForFilesOfTheProgramAndForIds) {
  MadeTrace own;
  for (int i = 0; i < 1001; ++i) stat_of(own, "/tmp/repository/.gitattributes");
  EXPECT_EQ(notes_of("many-calls", own),
            Texts{"newfstatat of /tmp/repository/.gitattributes is asked 1000 times more, and the answer is the same"});
  MadeTrace ids;
  for (int i = 0; i < 1001; ++i) ids.call("getpid", {}, 17);
  EXPECT_EQ(notes_of("many-calls", ids), Texts{"getpid is asked 1000 times more, and the answer is the same"});
}

void fstat_of(MadeTrace& trace, int descriptor) {
  trace.call(
      "newfstatat",
      {{"dfd", std::to_string(descriptor)}, {"filename", "\"\""}, {"statbuf", "0x7f00"}, {"flag", "AT_EMPTY_PATH"}}, 0);
}

/// What bench says of a test that has this trace.
Findings all_of(MadeTrace& trace) {
  testing::Loaded loaded = testing::load(testing::test_row({{"total_calls", "9"}, {"total_errors", "0"}}));
  const std::vector<model::Group> groups = model::group_samples(loaded.data);
  Finder finder(loaded.data, groups);
  stats::for_each_summary(loaded.data, groups, false,
                          [&](std::size_t i, stats::WindowSummary&& window) { finder.add(i, window, &trace.file()); });
  return finder.take();
}

TEST(ManyCallsInOrder, KeepsAFindingThoughANoteIsAboutTheSameCall) {
  MadeTrace trace;
  trace.taking(2000);
  for (int i = 0; i < 1001; ++i) {
    stat_of(trace, "/etc/localtime");
    stat_of(trace, "/a/file/of/the/test");
    stat_of(trace, "/b/other/file");
  }
  const Findings all = all_of(trace);
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_EQ(all.found[0].evidence, "newfstatat of /etc/localtime is asked 1000 times more, and the answer is the same");
}

TEST(ManyCallsInOrder, TakesADescriptorThatIsOpenedAnewForAnotherFile) {
  MadeTrace held;
  held.open("data", 3);
  for (int i = 0; i < 1001; ++i) fstat_of(held, 3);
  EXPECT_EQ(notes_of("many-calls", held),
            Texts{"newfstatat of data is asked 1000 times more, and the answer is the same"});
  MadeTrace anew;
  for (int i = 0; i < 1200; ++i) {
    anew.open("data", 4, "O_WRONLY|O_CREAT|O_TRUNC");
    fstat_of(anew, 4);
    anew.on("close", 4);
  }
  EXPECT_EQ(hits_of("many-calls", anew).size(), 0U);
  // Of pipes, which the trace does not name.
  MadeTrace pipes;
  for (int i = 0; i < 1200; ++i) {
    pipes.call("pipe2", {{"fildes", "0x7f00"}}, 0).on("fstat", 5).on("close", 5);
  }
  EXPECT_EQ(hits_of("many-calls", pipes).size(), 0U);
}

TEST(ManyCallsInOrder, TellsFoldersApartThatHaveOneNumber) {
  MadeTrace trace;
  for (int i = 0; i < 1200; ++i) {
    trace.open("/usr/share/" + std::to_string(i), 6, "O_RDONLY|O_DIRECTORY");
    trace.call("newfstatat", {{"dfd", "6"}, {"filename", "\"x\""}, {"statbuf", "0x7f00"}}, 0).on("close", 6);
  }
  EXPECT_EQ(hits_of("many-calls", trace).size(), 0U);
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
  trace.open("/usr/lib", 9, "O_RDONLY|O_DIRECTORY");
  for (int i = 0; i < 16; ++i) {
    trace.call("openat", {{"dfd", "9"}, {"filename", "\"x\""}, {"flags", "O_RDONLY"}},
               "-1 ENOENT (No such file or directory)");
  }
  EXPECT_EQ(evidence_of("missing-paths", trace), Texts{"/usr/lib/x is looked for 16 times, and is never there"});
}

}  // namespace
}  // namespace syscost::bench::findings
