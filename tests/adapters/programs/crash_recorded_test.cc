// SPDX-License-Identifier: MIT
//
// Power cuts: what is recorded of bodies that write in many ways.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "crash_case.h"
#include "syscost/faults.h"

namespace adapter_tests {
namespace {

TEST_F(Crashes, AWriteWithoutFsyncMayBeLost) {
  has("a", "old");
  EXPECT_EQ(texts("a", [&] { has("a", "new!"); }), (Texts{"old", "", std::string(4, '\0'), "new!"}));
  EXPECT_TRUE(report_.is_complete);
}

TEST_F(Crashes, AnFsyncMakesSure) {
  EXPECT_EQ(texts("a",
                  [&] {
                    const int file = open_file("a");
                    EXPECT_EQ(write(file, "xy", 2), 2);
                    sync_all(file);
                    close(file);
                  }),
            Texts{"xy"});
}

TEST_F(Crashes, AnFsyncThatFailsMakesNothingSure) {
  has("a", "");
  const Texts found = texts("a", [&] {
    const int file = open_file("a");
    EXPECT_EQ(write(file, "xy", 2), 2);
    const syscost::Fault fault("fsync", EIO);
    sync_all(file);
    close(file);
  });
  EXPECT_EQ(found.count(""), 1U);
  EXPECT_EQ(found.count("xy"), 1U);
}

TEST_F(Crashes, WritesOfAllKindsAreRecorded) {
  has("source", "0123456789");
  EXPECT_EQ(texts("a",
                  [&] {
                    const int file = open_file("a");
                    const int source = open_file("source");
                    EXPECT_EQ(write(file, "a", 1), 1);
                    const int copy = dup(file);
                    EXPECT_EQ(write(copy, "b", 1), 1);
                    lseek(copy, 3, SEEK_SET);
                    iovec parts[] = {{const_cast<char*>("de"), 2}, {const_cast<char*>("fg"), 2}};
                    EXPECT_EQ(writev(file, parts, 2), 4);
                    EXPECT_EQ(pwrite(file, "c", 1, 2), 1);
                    EXPECT_EQ(pwritev(file, parts, 1, 7), 2);
                    EXPECT_EQ(pwritev2(file, parts, 1, -1, 0), 2);
                    off_t from = 2;
                    EXPECT_EQ(sendfile(file, source, &from, 3), 3);
                    loff_t from_here = 8;
                    loff_t into = 14;
                    if (copy_file_range(source, &from_here, file, &into, 2, 0) < 0) {
                      EXPECT_EQ(pwrite(file, "89", 2, 14), 2);
                    }
                    const int appending = open_file("a", O_WRONLY | O_APPEND);
                    EXPECT_EQ(write(appending, "+", 1), 1);
                    EXPECT_EQ(pwrite(appending, "!", 1, 0), 1);
                    sync_all(file);
                    for (const int one : {file, source, copy, appending}) close(one);
                  }),
            Texts{std::string("abcdefgde") + std::string("234") + std::string(2, '\0') + "89+!"});
}

TEST_F(Crashes, SizesAndHolesAreRecorded) {
  has("a", "0123456789");
  EXPECT_EQ(texts("a",
                  [&] {
                    const int file = open_file("a");
                    EXPECT_EQ(ftruncate(file, 4), 0);
                    EXPECT_EQ(truncate(at("a").c_str(), 6), 0);
                    EXPECT_EQ(posix_fallocate(file, 0, 8), 0);
                    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1);
                    EXPECT_EQ(pwrite(file, std::string(1, '\0').data(), 1, 0), 1);  // where there are no holes
                    sync_all(file);
                    close(file);
                  }),
            Texts{std::string(1, '\0') + "123" + std::string(4, '\0')});
}

TEST_F(Crashes, NamesOfAllKindsAreRecorded) {
  syscost::CrashOptions options;
  options.most_states = 50;
  has("a", "A");
  has("b", "B");
  texts(
      "a",
      [&] {
        EXPECT_EQ(mkdir(at("d").c_str(), 0700), 0);
        const int folder = open(at("d").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        EXPECT_EQ(renameat(AT_FDCWD, at("a").c_str(), folder, "in"), 0);
        EXPECT_EQ(linkat(folder, "in", AT_FDCWD, at("linked").c_str(), 0), 0);
        EXPECT_EQ(symlink("d//in/", at("symbolic").c_str()), 0);
        EXPECT_EQ(unlink(at("symbolic").c_str()), 0);
        EXPECT_EQ(symlinkat("in", folder, "symbolic"), 0);
        EXPECT_EQ(syscall(SYS_renameat2, AT_FDCWD, at("b").c_str(), folder, "in", RENAME_EXCHANGE), 0);
        EXPECT_EQ(syscall(SYS_renameat2, AT_FDCWD, at("b").c_str(), AT_FDCWD, at("linked").c_str(), RENAME_NOREPLACE),
                  -1);
        EXPECT_EQ(unlinkat(folder, "in", 0), 0);
        EXPECT_EQ(mkdirat(folder, "sub/", 0700), 0);
        EXPECT_EQ(unlinkat(folder, "sub/", AT_REMOVEDIR), 0);
        EXPECT_EQ(rename(at("d").c_str(), at("e").c_str()), 0);
        const int in_old = openat(folder, "later", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        EXPECT_EQ(write(in_old, "x", 1), 1);
        close(in_old);
        const int nameless = open(at("e").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (nameless >= 0) {
          EXPECT_EQ(write(nameless, "t", 1), 1);
          const std::string self = "/proc/self/fd/" + std::to_string(nameless);
          EXPECT_EQ(linkat(AT_FDCWD, self.c_str(), AT_FDCWD, at("named").c_str(), AT_SYMLINK_FOLLOW), 0);
          close(nameless);
        }
        close(folder);
      },
      options);
  EXPECT_EQ(report_.states, 50U);
}

TEST_F(Crashes, StdioAndStreamsAreRecorded) {
  const Texts found = texts("a", [&] {
    std::FILE* const file = std::fopen(at("a").c_str(), "w");
    for (int i = 0; i < 3000; ++i) std::fprintf(file, "%d,", i);
    std::fflush(file);
    sync_all(fileno(file));
    std::fclose(file);
    std::ofstream(at("b")) << "stream";
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->substr(0, 6), "0,1,2,");
}

TEST_F(Crashes, ADataSyncFlagMakesSure) {
  has("a", "..");
  EXPECT_EQ(texts("a",
                  [&] {
                    const int file = open_file("a", O_WRONLY | O_DSYNC);
                    EXPECT_EQ(write(file, "xy", 2), 2);
                    close(file);
                  }),
            Texts{"xy"});
}

TEST_F(Crashes, ThreadsAreRecorded) {
  syscost::CrashOptions options;
  options.most_states = 50;
  texts(
      "a",
      [&] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
          threads.emplace_back([this, i] {
            const int file = open_file("t" + std::to_string(i));
            for (int k = 0; k < 10; ++k) EXPECT_EQ(write(file, "0123456789", 10), 10);
            fsync(file);
            close(file);
          });
        }
        for (std::thread& thread : threads) thread.join();
      },
      options);
  EXPECT_EQ(report_.operations, 4U * 12);
  EXPECT_FALSE(report_.is_complete);
}

}  // namespace
}  // namespace adapter_tests
