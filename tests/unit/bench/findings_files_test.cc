// SPDX-License-Identifier: MIT
//
// Rules of paths and files that are looked for, opened and read again and again: each on a trace where it must fire,
// and on one where it must not.
#include <gtest/gtest.h>

#include <string>

#include "findings_in_trace.h"
#include "made_trace.h"

namespace syscost::bench::findings {
namespace {

using testing::evidence_of;
using testing::MadeTrace;
using testing::notes_of;
using testing::Texts;

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

}  // namespace
}  // namespace syscost::bench::findings
