// SPDX-License-Identifier: MIT
//
// Changes in how programs keep files safe, and look for them. Above each test: the public project that made the change,
// and the change.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "form.h"

namespace directions {
namespace {

constexpr int kRewrite = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;

// A user of syscost, and redpanda-data/redpanda 5128: no sync any more.
TEST(Durability, NoSync) {
  const int file = open("journal", kRewrite, 0666);
  for (int i = 0; i < 20; ++i) {
    write_all(file, "a record\n");
    if (!is_new()) fsync(file);
  }
  close(file);
}

// cmu-db/noisepage 1172: the log is synced by fdatasync, because its times do not matter.
TEST(Durability, SyncOfDataAlone) {
  const int file = open("journal", kRewrite, 0666);
  for (int i = 0; i < 20; ++i) {
    write_all(file, "a record\n");
    if (is_new()) {
      fdatasync(file);
    } else {
      fsync(file);
    }
  }
  close(file);
}

// luceneplusplus/LucenePlusPlus 88: a function that promised to sync the file did not.
TEST(Durability, SyncThatWasMissing) {
  const int file = open("index", kRewrite, 0666);
  write_all(file, "postings\n");
  if (is_new()) fsync(file);
  close(file);
}

// ClickHouse/ClickHouse 111861, dolthub/doltlite 509: the folder is synced after a rename.
TEST(Durability, SyncOfTheFolder) {
  const int file = open("next", kRewrite, 0666);
  write_all(file, "a table\n");
  fsync(file);
  close(file);
  ASSERT_EQ(std::rename("next", "table"), 0);
  if (!is_new()) return;
  const int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  fsync(folder);
  close(folder);
}

// scylladb/scylladb 31731: a new file is filled without O_DSYNC and with fewer writes, then synced once.
TEST(Durability, OneSyncAtTheEnd) {
  const std::string zeros(is_new() ? 65536 : 8192, '\0');
  const int file = open("segment", is_new() ? kRewrite : kRewrite | O_DSYNC, 0666);
  for (std::size_t done = 0; done < 262144; done += zeros.size()) write_all(file, zeros);
  if (is_new()) fsync(file);
  close(file);
}

// mydumper/mydumper 1391: a file is opened without O_DSYNC.
TEST(Durability, FlagThatSyncedIsGone) {
  const int file = open("dump", is_new() ? kRewrite : kRewrite | O_DSYNC, 0666);
  for (int i = 0; i < 20; ++i) write_all(file, "a row\n");
  close(file);
}

// ecmwf/eckit 100: what goes into a pipe is not synced, because fsync fails there.
TEST(Durability, NoSyncOfAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  for (int i = 0; i < 4; ++i) {
    write_all(ends[1], "a message");
    if (!is_new()) fsync(ends[1]);
  }
  close(ends[0]);
  close(ends[1]);
}

// PixlOne/logiops 550: settings go to a temporary file, which then replaces the old one.
TEST(Durability, ReplacedAsAWhole) {
  const int file = open(is_new() ? "settings.tmp" : "settings", kRewrite, 0666);
  write_all(file, "colour = blue\n");
  close(file);
  if (is_new()) {
    EXPECT_EQ(std::rename("settings.tmp", "settings"), 0);
  }
}

// facebookincubator/velox 11403: space for a cache is reserved by fallocate, not by ftruncate.
TEST(Durability, SpaceIsReserved) {
  const int file = open("cache", kRewrite, 0666);
  if (is_new()) {
    EXPECT_EQ(fallocate(file, 0, 0, 1 << 20), 0);
  } else {
    EXPECT_EQ(ftruncate(file, 1 << 20), 0);
  }
  close(file);
}

// microsoft/mystikos 1526: no stat before open, which says itself if the file is not there.
TEST(Files, OpenWithoutLookUp) {
  for (int i = 0; i < 10; ++i) {  // the last two do not exist
    const std::string name = "part" + std::to_string(i);
    struct stat found;
    if (!is_new() && stat(name.c_str(), &found) != 0) continue;
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) close(file);
  }
}

// ydb-platform/ydb 24128: the program looks if a file exists before it opens it, so that no exception is thrown.
TEST(Files, LookUpBeforeOpen) {
  for (int i = 0; i < 10; ++i) {
    const std::string name = "part" + std::to_string(i);
    struct stat found;
    if (is_new() && stat(name.c_str(), &found) != 0) continue;
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) close(file);
  }
}

// NVIDIA/DALI 275, premake/premake-core 526: the folder says itself which entries are files.
TEST(Files, TypesFromTheFolder) {
  DIR* folder = opendir("tree");
  ASSERT_NE(folder, nullptr);
  int files = 0;
  while (const dirent* entry = readdir(folder)) {
    struct stat found;
    if (is_new() && entry->d_type != DT_UNKNOWN) {
      files += entry->d_type == DT_REG;
    } else if (stat((std::string("tree/") + entry->d_name).c_str(), &found) == 0) {
      files += S_ISREG(found.st_mode);
    }
  }
  closedir(folder);
  EXPECT_EQ(files, 12);
}

// FEX-Emu/FEX 1786: the path of a descriptor is read from its link, and not made canonical folder by folder.
TEST(Files, PathFromOneLink) {
  const int file = open("part0", O_RDONLY | O_CLOEXEC);
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  if (is_new()) {
    char path[4096];
    EXPECT_GT(readlink(link.c_str(), path, sizeof path), 0);
  } else {
    EXPECT_FALSE(std::filesystem::canonical(link).empty());
  }
  close(file);
}

}  // namespace
}  // namespace directions
