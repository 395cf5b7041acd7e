// SPDX-License-Identifier: MIT
//
// Changes in how programs write and read. Above each test: the public project that made the change, and the change.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "form.h"

namespace directions {
namespace {

/// Reads `name` to its end, `size` bytes at a time.
std::size_t read_file(const char* name, std::size_t size) {
  static std::array<char, 1 << 20> buffer;
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  std::size_t total = 0;
  for (ssize_t got = 0; (got = read(file, buffer.data(), size)) > 0;) total += static_cast<std::size_t>(got);
  close(file);
  return total;
}

// A user of syscost: the lines of a log are gathered and written together.
TEST(Writing, ManyLinesTogether) {
  const int file = open("lines", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  static std::string line = "a line of the log\n";
  if (is_new()) {
    std::vector<iovec> lines(300, iovec{line.data(), line.size()});
    EXPECT_EQ(writev(file, lines.data(), 300), static_cast<ssize_t>(300 * line.size()));
  } else {
    for (int i = 0; i < 300; ++i) write_all(file, line);
  }
  close(file);
}

// nasa/trick 772: a line break in the place of std::endl.
TEST(Writing, LinesWithoutFlush) {
  std::ofstream out("resource");
  for (int i = 0; i < 100; ++i) {
    out << "variable " << i;
    if (is_new()) {
      out << '\n';
    } else {
      out << std::endl;
    }
  }
}

// GrognardsFromHell/TemplePlus 459: the log is flushed after each line, so that a crash loses none.
TEST(Writing, LinesWithFlush) {
  std::ofstream out("game.log");
  for (int i = 0; i < 100; ++i) {
    out << "line " << i << '\n';
    if (is_new()) out.flush();
  }
}

// nzbget/nzbget 466: the log stays open between messages, and is flushed after each one.
TEST(Writing, LogThatStaysOpen) {
  std::ofstream out;
  for (int i = 0; i < 20; ++i) {
    if (!out.is_open()) out.open("messages", std::ios::app);
    out << "message " << i << '\n';
    if (is_new()) {
      out.flush();
    } else {
      out.close();
    }
  }
}

// verilog-to-routing/vtr-verilog-to-routing 2772: large files are read in pieces of 1 MiB, not of 8 KiB.
TEST(Reading, LargerPieces) {
  EXPECT_EQ(read_file("large", is_new() ? 1 << 20 : 8192), 1U << 20);
}

// TileDB-Inc/TileDB 299: pread in the place of a seek and a read.
TEST(Reading, PositionInTheCall) {
  const int file = open("large", O_RDONLY | O_CLOEXEC);
  std::array<char, 100> block;
  for (int i = 0; i < 20; ++i) {
    if (is_new()) {
      EXPECT_EQ(pread(file, block.data(), block.size(), i * 5000), 100);
    } else {
      lseek(file, i * 5000, SEEK_SET);
      EXPECT_EQ(read(file, block.data(), block.size()), 100);
    }
  }
  close(file);
}

// libretro/RetroArch 120: a seek and a read in the place of pread.
TEST(Reading, PositionBeforeTheCall) {
  const int file = open("large", O_RDONLY | O_CLOEXEC);
  std::array<char, 100> block;
  for (int i = 0; i < 20; ++i) {
    if (is_new()) {
      lseek(file, i * 5000, SEEK_SET);
      EXPECT_EQ(read(file, block.data(), block.size()), 100);
    } else {
      EXPECT_EQ(pread(file, block.data(), block.size(), i * 5000), 100);
    }
  }
  close(file);
}

// qyang-nj/llios 22: a file is mapped, not read.
TEST(Reading, MapOfAFile) {
  if (!is_new()) {
    EXPECT_EQ(read_file("large", 65536), 1U << 20);
    return;
  }
  const int file = open("large", O_RDONLY | O_CLOEXEC);
  void* map = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  ASSERT_NE(map, MAP_FAILED);
  const char* begin = static_cast<const char*>(map);
  EXPECT_EQ(std::count(begin, begin + (1 << 20), 'x'), 1 << 20);
  munmap(map, 1 << 20);
}

// ThatGuyCodes605/The-JLC-Project 4: a copy by sendfile in the place of reads and writes.
TEST(Reading, CopyInTheKernel) {
  const int from = open("large", O_RDONLY | O_CLOEXEC);
  const int to = open("copy", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (is_new()) {
    while (sendfile(to, from, nullptr, 1 << 20) > 0) {
    }
  } else {
    static std::array<char, 65536> block;
    for (ssize_t got = 0; (got = read(from, block.data(), block.size())) > 0;) {
      write_all(to, {block.data(), static_cast<std::size_t>(got)});
    }
  }
  close(from);
  close(to);
}

// proftpd/proftpd 234: the kernel gets advice on how a file will be read.
TEST(Reading, AdviceOnTheOrder) {
  for (int i = 0; i < 8; ++i) {
    const int file = open(("part" + std::to_string(i)).c_str(), O_RDONLY | O_CLOEXEC);
    if (is_new()) posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    std::array<char, 200> block;
    EXPECT_EQ(read(file, block.data(), block.size()), 100);
    close(file);
  }
}

// aria2/aria2 320: random bytes from getrandom in the place of /dev/urandom. As a syscall: newer C libraries make none.
TEST(Reading, RandomBytesWithoutAFile) {
  for (int i = 0; i < 10; ++i) {
    std::array<char, 16> bytes;
    if (is_new()) {
      EXPECT_EQ(syscall(SYS_getrandom, bytes.data(), bytes.size(), 0), 16);
      continue;
    }
    const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(read(file, bytes.data(), bytes.size()), 16);
    close(file);
  }
}

// redis/redis 15271: the file of /proc with the memory of the process stays open, and is read again by pread.
TEST(Reading, StatusFileThatStaysOpen) {
  int kept = -1;
  for (int i = 0; i < 10; ++i) {
    std::array<char, 4096> text;
    if (is_new()) {
      if (kept < 0) kept = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
      EXPECT_GT(pread(kept, text.data(), text.size(), 0), 0);
      continue;
    }
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    EXPECT_GT(read(file, text.data(), text.size()), 0);
    close(file);
  }
  if (kept >= 0) close(kept);
}

}  // namespace
}  // namespace directions
