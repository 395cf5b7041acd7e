// SPDX-License-Identifier: MIT
//
// Power cuts: what is recorded of bodies that write in many ways, and what is refused. Tests that are expected to fail
// are in `Unsafe`.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "syscost/crash.h"
#include "syscost/faults.h"
#include "syscost/gtest.h"

namespace {

using syscost::CrashPoint;
using syscost::CrashReport;

std::string load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Crashes : public testing::Test {
 protected:
  Crashes() {
    std::string folder = std::filesystem::temp_directory_path() / "crashes-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~Crashes() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }

  /// A file that is there before the body.
  void has(const std::string& name, const std::string& text) const { std::ofstream(at(name)) << text; }

  /// The texts that file `name` can have when the body has ended; "-" = it is not there.
  std::set<std::string> texts(const std::string& name, const std::function<void()>& body,
                              const syscost::CrashOptions& options = {}) {
    std::set<std::string> found;
    report_ = syscost::for_each_crash(
        folder_, body,
        [&](const CrashPoint& point) {
          const std::string path = point.path + "/" + name;
          if (point.is_finished) found.insert(std::filesystem::exists(path) ? load(path) : "-");
        },
        options);
    EXPECT_EQ(report_.failures(), 0) << report_;
    return found;
  }
  std::string why_not(const std::function<void()>& body, const syscost::CrashOptions& options = {}) {
    const CrashReport report = syscost::for_each_crash(
        folder_, body, [](const CrashPoint&) {}, options);
    return report.why != nullptr ? report.why->reason : "";
  }

  int open_file(const std::string& name, int flags = O_RDWR | O_CREAT) const {
    return open(at(name).c_str(), flags | O_CLOEXEC, 0600);
  }
  /// Makes what a file holds, and its name, sure.
  void sync_all(int file) const {
    fsync(file);
    const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fsync(folder);
    close(folder);
  }

  std::string folder_;
  CrashReport report_;
};
using Unsafe = Crashes;

using Texts = std::set<std::string>;

// ---- what is recorded -----------------------------------------------------------------------------------------------

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

TEST_F(Crashes, MarksAndTheEndReachTheCheck) {
  std::set<std::string> seen;
  const CrashReport report = syscost::for_each_crash(
      folder_,
      [&] {
        has("a", "1");
        syscost::crash_mark("one");
        has("b", "2");
        syscost::crash_mark("two");
      },
      [&](const CrashPoint& point) {
        std::string text = point.is_finished ? "end" : "";
        for (const std::string& mark : point.marks) text += " " + mark;
        seen.insert(text);
        EXPECT_EQ(point.has_passed("two"), point.is_finished || point.marks.size() == 2);
        EXPECT_EQ(std::filesystem::path(point.path).filename(), std::filesystem::path(folder_).filename());
      });
  EXPECT_EQ(report.failures(), 0) << report;
  EXPECT_EQ(seen, (Texts{"", " one", "end one two"}));
  syscost::crash_mark("outside of a body");
}

TEST_F(Crashes, TheModelIsChosen) {
  const auto of_model = [&](syscost::CrashModel model) {
    syscost::CrashOptions options;
    options.model = model;
    return syscost::for_each_crash(
        folder_,
        [&] {
          has("first", "");
          has("second", "");
        },
        [](const CrashPoint& point) {
          return std::filesystem::exists(point.path + "/first") || !std::filesystem::exists(point.path + "/second");
        },
        options);
  };
  EXPECT_EQ(of_model(syscost::CrashModel::ordered).failed_states, 0U) << "names come in the order of the calls";
  std::filesystem::remove(folder_ + "/first");
  std::filesystem::remove(folder_ + "/second");
  EXPECT_EQ(of_model(syscost::CrashModel::posix).failed_states, 1U) << "or in any order";
}

TEST_F(Crashes, LeaveNothingBehind) {
  std::string path;
  const CrashReport report = syscost::for_each_crash(
      folder_, [&] { has("a", "x"); },
      [&](const CrashPoint& point) {
        path = std::filesystem::path(point.path).parent_path();
        struct stat status {};
        EXPECT_EQ(stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777, 0700U);
        throw std::runtime_error("thrown");
      });
  EXPECT_EQ(report.failed_states, report.states);
  EXPECT_EQ(report.failed.front().message, "thrown");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Crashes, OfAChildAreFailuresOfAState) {
  syscost::CrashOptions options;
  options.in_child = true;
  const CrashReport report = syscost::for_each_crash(
      folder_, [&] { has("a", "x"); },
      [&](const CrashPoint& point) {
        if (load(point.path + "/a") == "x") std::raise(SIGKILL);
        return !std::filesystem::exists(point.path + "/a");
      },
      options);
  EXPECT_EQ(report.states, 4U);
  EXPECT_EQ(report.failed_states, 3U);
  std::set<std::string> messages;
  for (const syscost::CrashFailure& failure : report.failed) messages.insert(failure.message);
  EXPECT_EQ(messages, (Texts{"", "the check was ended by: Killed"}));
}

TEST_F(Crashes, TheBodyCountsAndNothingOfOurs) {
  CrashReport report;
  const syscost::Cost cost = syscost::measure([&] {
    report = syscost::for_each_crash(
        folder_, [&] { close(open_file("a")); }, [](const CrashPoint&) {});
  });
  EXPECT_EQ(report.failures(), 0) << report;
  EXPECT_EQ(cost.calls("openat"), 1) << cost;
  EXPECT_EQ(cost.calls("%file,%desc"), 2) << cost;
}

TEST_F(Crashes, WhatTheBodyThrowsPassesThrough) {
  EXPECT_THROW(static_cast<void>(syscost::for_each_crash(
                   folder_, [] { throw std::runtime_error("body"); }, [](const CrashPoint&) {})),
               std::runtime_error);
  EXPECT_EQ(texts("a", [] {}), Texts{"-"});
}

// ---- what is refused ------------------------------------------------------------------------------------------------

TEST_F(Crashes, ChangesThatAreNotSeenAreRefused) {
  has("mapped", "....");
  const auto map = [&] {
    const int file = open_file("mapped");
    auto* const text = static_cast<char*>(mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    text[0] = text[0] == 'x' ? 'y' : 'x';
    munmap(text, 4);
    close(file);
  };
  EXPECT_NE(why_not(map).find("mapped differs"), std::string::npos) << why_not(map);
  syscost::CrashOptions options;
  options.may_be_mapped = {"map*"};
  EXPECT_EQ(why_not(map, options), "");
  EXPECT_NE(why_not([&] {
              const pid_t child = fork();
              if (child == 0) {
                close(open_file("by_child"));
                _exit(0);
              }
              waitpid(child, nullptr, 0);
            }).find("by_child differs"),
            std::string::npos);
}

TEST_F(Crashes, WhatTheModelLacksIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_NE(why_not([&] {
              const int file = open_file("a");
              EXPECT_EQ(splice(ends[0], nullptr, file, nullptr, 1, 0), 1);
              close(file);
            }).find("splice"),
            std::string::npos);
  close(ends[0]);
  close(ends[1]);
  EXPECT_NE(why_not([&] { EXPECT_EQ(mkfifo(at("pipe").c_str(), 0600), 0); }).find("a pipe"), std::string::npos);
}

TEST_F(Crashes, MistakesAreRefused) {
  std::string inner;
  EXPECT_EQ(why_not([&] { inner = why_not([] {}); }), "");
  EXPECT_NE(inner.find("Another for_each_crash"), std::string::npos) << inner;
  syscost::CrashOptions options;
  options.block_bytes = 1000;
  EXPECT_NE(why_not([] {}, options).find("block_bytes is 1000"), std::string::npos);
  options = {};
  options.most_states = 0;
  EXPECT_NE(why_not([] {}, options).find("most_states is 0"), std::string::npos);
  const CrashReport report = syscost::for_each_crash(
      at("none"), [] {}, [](const CrashPoint&) {});
  ASSERT_NE(report.why, nullptr);
  EXPECT_FALSE(report.ok());
}

// ---- failures -------------------------------------------------------------------------------------------------------

TEST_F(Unsafe, ByAnAssertionOfTheCheck) {
  has("f", "old");
  EXPECT_CRASH_SAFE(
      folder_,
      [&] {
        has("t", "new");
        EXPECT_EQ(rename(at("t").c_str(), at("f").c_str()), 0);
      },
      [](const CrashPoint& point) {
        const std::string text = load(point.path + "/f");
        EXPECT_TRUE(text == "old" || text == "new") << "it holds " << text.size() << " bytes";
      });
}

TEST_F(Unsafe, ByFalseInAChild) {
  syscost::CrashOptions options;
  options.in_child = true;
  EXPECT_CRASH_SAFE(
      folder_, [&] { has("a", "x"); }, [](const CrashPoint& point) { return load(point.path + "/a").empty(); },
      options);
}

}  // namespace
