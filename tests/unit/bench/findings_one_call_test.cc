// SPDX-License-Identifier: MIT
//
// Who makes the calls: the test one by one, or a library in one call of the test? Each rule that asks so, on a trace
// where it must be a finding, and on one where it must be a note.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "findings/traced_window.h"
#include "findings_in_trace.h"
#include "made_trace.h"

namespace syscost::bench::findings {
namespace {

using testing::evidence_of;
using testing::MadeTrace;
using testing::notes_of;
using testing::Texts;
using Places = std::vector<MadeTrace::Place>;

/// True if one call of the test makes a call with each of these stacks.
bool makes(const Places& a, const Places& b) {
  MadeTrace trace;
  trace.through(a).call("getppid", {}, 1).through(b).call("getppid", {}, 1);
  const trace::TraceFile& file = trace.file();
  return OneCall(file).makes(file.calls[0], file.calls[1]);
}

const MadeTrace::Place kTest = {"Log_Batch_Test::TestBody()", "log.cc", 10};

TEST(OneCall, IsOneIfALibraryGoesOn) {
  EXPECT_TRUE(makes({kTest, {"Log::add", "src/a.cc", 1}}, {kTest, {"Log::add", "src/a.cc", 2}}));
  EXPECT_TRUE(makes({kTest, {"Log::add", "src/a.cc", 1}, {"write", "", 1}},
                    {kTest, {"Log::add", "src/a.cc", 2}, {"Log::end", "src/a.cc", 9}, {"write", "", 1}}));
}

TEST(OneCall, IsNotProvenIfTheTestMayLoop) {
  EXPECT_FALSE(makes({kTest, {"Log::add", "src/a.cc", 1}}, {kTest, {"Log::add", "src/a.cc", 1}}));
  // The test calls twice.
  const MadeTrace::Place later = {kTest.function, kTest.source, 11};
  EXPECT_FALSE(makes({kTest, {"Log::add", "src/a.cc", 1}}, {later, {"Log::add", "src/a.cc", 2}}));
  // Another function: a test may go through several.
  EXPECT_FALSE(makes({kTest, {"Log::add", "src/a.cc", 1}}, {kTest, {"Log::end", "src/a.cc", 2}}));
  // A function without lines, as those of libc.
  EXPECT_FALSE(makes({kTest, {"fflush", "", 1}}, {kTest, {"fflush", "", 2}}));
  EXPECT_FALSE(makes({}, {}));
}

TEST(OneCall, TakesHelpersOfTestsForTheTest) {
  for (const char* file : {"src/log_test_common.h", "/home/me/log/tests/support/write.cc", "log.cc"}) {
    EXPECT_FALSE(makes({kTest, {"write_all", file, 1}}, {kTest, {"write_all", file, 2}})) << file;
  }
  EXPECT_TRUE(makes({kTest, {"write_all", "/tests/log/src/util/write.cc", 1}},
                    {kTest, {"write_all", "/tests/log/src/util/write.cc", 2}}));
}

TEST(OneCall, KnowsTestsOfOtherFrameworks) {
  for (const char* test : {"main", "CATCH2_INTERNAL_TEST_4()", "DOCTEST_ANON_FUNC_7()", "Log::adds::test_method()"}) {
    const MadeTrace::Place at = {test, "log.cc", 10};
    EXPECT_TRUE(makes({at, {"Log::add", "src/a.cc", 1}}, {at, {"Log::add", "src/a.cc", 2}})) << test;
    EXPECT_FALSE(makes({at, {"helper", "log.cc", 1}}, {at, {"helper", "log.cc", 2}})) << test;
  }
  // Whose function is it?
  EXPECT_FALSE(makes({{"run", "a.cc", 1}}, {{"run", "a.cc", 2}}));
}

TEST(OneCall, IsALibrarysThreadIfNoCodeOfTheTestRunsInIt) {
  const MadeTrace::Place start = {"start_thread", "", 1};
  EXPECT_TRUE(makes({start, {"Worker::run", "src/a.cc", 1}}, {start, {"Worker::run", "src/a.cc", 1}}));
  EXPECT_FALSE(makes({start, kTest, {"Log::add", "src/a.cc", 1}}, {start, kTest, {"Log::add", "src/a.cc", 1}}));
  EXPECT_FALSE(makes({start}, {start}));
}

/// Writes whose places in the library take turns, or are one.
MadeTrace small_writes(bool is_one_call) {
  MadeTrace trace;
  trace.open("queue", 3, "O_RDWR|O_CREAT");
  for (int i = 0; i < 600; ++i) trace.in_library(is_one_call ? i % 2 : 0).on("write", 3, 50);
  return trace;
}

TEST(TinyWritesInOrder, IsANoteIfTheTestMayWriteOneByOne) {
  MadeTrace library = small_writes(true);
  EXPECT_EQ(evidence_of("tiny-writes", library).size(), 1U);
  MadeTrace test = small_writes(false);
  EXPECT_EQ(notes_of("tiny-writes", test), Texts{"600 writes in a row, to queue, move 50 bytes each on average"});
}

TEST(TinyWritesInOrder, FiresIfOneCallOpensWritesAndCloses) {
  MadeTrace trace;
  trace.in_library(1).open("queue", 3, "O_RDWR|O_CREAT").in_library(2);
  for (int i = 0; i < 600; ++i) trace.on("write", 3, 50);
  trace.in_library(3).on("close", 3);
  EXPECT_EQ(evidence_of("tiny-writes", trace).size(), 1U);
}

TEST(TinyWritesInOrder, IsANoteIfAFullFileIsClosedBeforeTheNextIsOpened) {
  MadeTrace trace;
  trace.in_library(2).open("queue.1", 3, "O_RDWR|O_CREAT").in_library(3);
  for (int i = 0; i < 600; ++i) trace.on("write", 3, 50);
  trace.in_library(1).on("close", 3).in_library(2).open("queue.2", 3, "O_RDWR|O_CREAT");
  EXPECT_EQ(notes_of("tiny-writes", trace).size(), 1U);
}

TEST(TinyWritesInOrder, IsANoteIfSomeoneReadsMeanwhile) {
  MadeTrace reader = small_writes(true);
  reader.call("pread64", {{"fd", "3"}, {"count", "50"}, {"pos", "0"}}, 50, 18);
  for (int i = 0; i < 600; ++i) reader.in_library(i % 2).on("write", 3, 50);
  EXPECT_EQ(notes_of("tiny-writes", reader).size(), 1U);
  // Afterwards nobody waits.
  MadeTrace after = small_writes(true);
  after.call("pread64", {{"fd", "3"}, {"count", "50"}, {"pos", "0"}}, 50, 18);
  EXPECT_EQ(evidence_of("tiny-writes", after).size(), 1U);
  MadeTrace mapped;
  mapped.open("queue", 3, "O_RDWR|O_CREAT").call("mmap", {{"fd", "3"}}, "0x7f00");
  for (int i = 0; i < 600; ++i) mapped.in_library(i % 2).on("write", 3, 50);
  EXPECT_EQ(notes_of("tiny-writes", mapped).size(), 1U);
}

TEST(TinyWritesInOrder, FiresForFarTooManyBytesOneByOneIfNoStackSaysWhoseTheyAre) {
  const auto written = [](int calls, int bytes, bool has_stacks = false) {
    MadeTrace trace;
    trace.open("a.bin", 3, "O_WRONLY|O_CREAT");
    if (has_stacks) trace.in_library(0);
    for (int i = 0; i < calls; ++i) trace.on("write", 3, bytes);
    return trace;
  };
  MadeTrace bytes = written(1000, 1);
  EXPECT_EQ(evidence_of("tiny-writes", bytes), Texts{"1000 writes in a row, to a.bin, move 1 byte each on average"});
  MadeTrace fewer = written(999, 1);
  EXPECT_EQ(notes_of("tiny-writes", fewer).size(), 1U);
  MadeTrace larger = written(1000, 5);
  EXPECT_EQ(notes_of("tiny-writes", larger).size(), 1U);
  // The test's own.
  MadeTrace by_the_test = written(1000, 1, true);
  EXPECT_EQ(notes_of("tiny-writes", by_the_test).size(), 1U);
}

TEST(TinyReadsInOrder, AsksTheSameOfRandomBytes) {
  const auto asked = [](int calls, bool is_one_call, const char* bytes) {
    MadeTrace trace;
    trace.at("at src/ws.cc:17 mask+3");
    for (int i = 0; i < calls; ++i) trace.in_library(is_one_call ? i % 2 : 0).call("getrandom", {}, bytes);
    return trace;
  };
  MadeTrace library = asked(1000, true, "4");
  EXPECT_EQ(evidence_of("tiny-reads", library), Texts{"1000 getrandom in a row give 4 bytes each on average"});
  MadeTrace test = asked(1000, false, "4");
  EXPECT_EQ(notes_of("tiny-reads", test).size(), 1U);
  MadeTrace few = asked(999, true, "4");
  EXPECT_EQ(notes_of("tiny-reads", few), Texts{});
  MadeTrace keys = asked(1000, true, "64");
  EXPECT_EQ(notes_of("tiny-reads", keys), Texts{});
}

TEST(FsyncStormInOrder, IsANoteIfTheTestMaySyncOneByOne) {
  MadeTrace trace;
  trace.open("log", 3, "O_WRONLY").in_library(0);
  for (int i = 0; i < 30; ++i) trace.on("write", 3, 4096).on("fsync", 3);
  EXPECT_EQ(notes_of("fsync-storm", trace), Texts{"30 syncs for 30 writes to log"});
  MadeTrace nothing;
  nothing.open("log", 3, "O_WRONLY").on("write", 3, 4096).in_library(0);
  for (int i = 0; i < 9; ++i) nothing.on("fsync", 3);
  EXPECT_EQ(notes_of("fsync-storm", nothing).size(), 1U);
}

TEST(SeekThenRead, IsANoteIfTheTestSeeks) {
  MadeTrace trace;
  trace.open("index", 3);
  for (int i = 0; i < 80; ++i) trace.on("lseek", 3, i * 100).on("read", 3, 100);
  EXPECT_EQ(notes_of("seek-then-read", trace), Texts{"80 times an lseek goes before a read of index"});
  // A stream seeks and reads.
  MadeTrace stream;
  stream.open("index", 3);
  for (int i = 0; i < 80; ++i) {
    stream.through({kTest, {"File::read", "src/a.cc", 1}, {"seekg", "", 1}, {"lseek64", "", 1}}).on("lseek", 3, i);
    stream.through({kTest, {"File::read", "src/a.cc", 2}, {"read", "", 1}}).on("read", 3, 100);
  }
  EXPECT_EQ(notes_of("seek-then-read", stream).size(), 1U);
}

TEST(AllocatorChurnInOrder, IsANoteIfTheProgramMapsItself) {
  const auto churn = [](const MadeTrace::Place& in_libc) {
    MadeTrace trace;
    trace.through({kTest, {"Pool::take", "src/a.cc", 1}, in_libc, {"__mmap", "", 2}});
    for (int i = 0; i < 40; ++i) {
      trace.call("mmap", {{"addr", "NULL"}, {"len", "65536"}, {"prot", "PROT_WRITE"}, {"flags", "MAP_ANONYMOUS"}},
                 "0x7f0000000000");
      trace.call("munmap", {{"addr", "0x7f0000000000"}, {"len", "65536"}}, 0);
    }
    return trace;
  };
  MadeTrace heap = churn({"malloc", "", 1});
  EXPECT_EQ(evidence_of("allocator-churn", heap).size(), 1U);
  MadeTrace pool = churn({"mmap64", "", 1});
  EXPECT_EQ(notes_of("allocator-churn", pool).size(), 1U);
}

TEST(ReopenedFile, IsANoteIfTheTestOpensToAppend) {
  MadeTrace trace;
  for (int i = 0; i < 32; ++i) trace.open("log", 3, "O_WRONLY|O_CREAT|O_APPEND").on("write", 3, 10).on("close", 3);
  EXPECT_EQ(notes_of("reopened-file", trace), Texts{"log is opened 32 times to append to it"});
}

}  // namespace
}  // namespace syscost::bench::findings
