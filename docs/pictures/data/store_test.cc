// SPDX-License-Identifier: MIT
//
// The tests that the pictures show: a small store. STORE_CHANGED is the pull request: it opens the file for each
// record, and syncs once instead of never.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace {

void append(int records) {
  std::ofstream log("wal.log");
  for (int i = 0; i < records; ++i) {
    log << "record " << i << '\n';
#ifdef STORE_CHANGED
    log.flush();
#endif
  }
}

TEST(Wal, AppendsABatch) {
  append(200);
}

TEST(Wal, Syncs) {
  append(20);
  const int file = open("wal.log", O_WRONLY);
#ifdef STORE_CHANGED
  fsync(file);
#endif
  fdatasync(file);
  close(file);
}

TEST(Wal, Replays) {
  append(2000);
  std::ifstream log("wal.log");
  int records = 0;
  for (std::string line; std::getline(log, line);) ++records;
  EXPECT_EQ(records, 2000);
}

TEST(Index, LooksForItsFile) {
  int tries = 0;
  for (const char* folder : {"/var/lib/store", "/usr/share/store", "/tmp/store", "."}) {
    struct stat found {};
    ++tries;
    if (stat((std::string(folder) + "/index").c_str(), &found) == 0) break;
  }
  EXPECT_EQ(tries, 4);
}

TEST(Index, ReadsItWhole) {
  std::ofstream("index") << std::string(100'000, 'x');
  std::ifstream file("index");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text.size(), 100'000U);
  unlink("index");
}

TEST(Cache, HitsWithoutTheKernel) {
  std::string value(64, 'v');
  EXPECT_EQ(value.size(), 64U);
}

TEST(Cache, IsFilledByAThread) {
  std::thread filler([] { append(10); });
  filler.join();
}

}  // namespace
