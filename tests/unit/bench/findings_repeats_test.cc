// SPDX-License-Identifier: MIT
//
// Rules of memory that comes and goes, calls that fail, and questions with the same answer: each on a trace where it
// must fire, and on one where it must not.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "csv_text.h"
#include "findings/find.h"
#include "findings/rules.h"
#include "findings_in_trace.h"
#include "loaded.h"
#include "made_trace.h"
#include "model/dataset.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::findings {
namespace {

using testing::evidence_of;
using testing::hits_of;
using testing::MadeTrace;
using testing::notes_of;
using testing::Texts;

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

/// All that bench says of a test that has this trace and these rows.
Findings all_of(MadeTrace& trace,
                const std::string& rows = testing::test_row({{"total_calls", "9"}, {"total_errors", "0"}})) {
  testing::Loaded loaded = testing::load(rows);
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

TEST(ManyCallsInOrder, ACheapNoteDoesNotHideWhatAllCallsCost) {
  MadeTrace trace;
  for (int i = 0; i < 21; ++i) trace.call("mkdir", {{"pathname", "\"/tmp/db\""}}, "-1 EEXIST (File exists)");
  const auto rows_of = [](const std::string& calls, const std::string& ns) {
    return testing::test_row({{"total_calls", calls}, {"total_errors", "0"}}) +
           testing::syscall_row({{"syscall", "mkdir"},
                                 {"calls", calls},
                                 {"entries", calls},
                                 {"errors", "0"},
                                 {"latency_count", calls},
                                 {"latency_sum_ns", ns}});
  };
  const Findings dear = all_of(trace, rows_of("3000", "3000000"));
  ASSERT_EQ(dear.notes.size(), 2U);
  EXPECT_EQ(dear.notes[0].evidence, "3000 mkdir, 1.00 us each");
  EXPECT_EQ(dear.notes[1].evidence, "mkdir of /tmp/db fails 20 times more in the same way (EEXIST)");
  // Half of the cost is in the other note.
  EXPECT_EQ(all_of(trace, rows_of("1000", "40000")).notes.size(), 1U);
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
  // The same for pipes, which the trace does not name.
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

}  // namespace
}  // namespace syscost::bench::findings
