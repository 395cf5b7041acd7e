// SPDX-License-Identifier: MIT
//
// A program that syscost may disturb. It keeps a data file open as descriptor 2, where messages go. Under a limit of
// memory it may have room for one thread, and none beside what syscost reserves.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace {

int data = -1;

TEST(Data, IsEmpty) {
  char byte = 0;
  EXPECT_EQ(pread(data, &byte, 1, 0), 0);
}
TEST(Data, IsWritten) {
  EXPECT_EQ(pwrite(data, "data", 4, 0), 4);
  if (std::getenv("TEST_CLOSES_ALL") != nullptr) syscall(SYS_close_range, 3U, ~0U, 0U);
}
TEST(Data, IsFourBytes) {
  EXPECT_EQ(lseek(data, 0, SEEK_END), 4);
}

TEST(Thread, Begins) {
  std::thread([] {}).join();
}

}  // namespace

/// TEST_CLOSES: numbers that are closed first; the file of the data gets the lowest.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* const numbers = std::getenv("TEST_CLOSES")) {
    for (const char number : std::string(numbers)) close(number - '0');
    data = open("data", O_CREAT | O_RDWR | O_TRUNC, 0644);
  }
  return RUN_ALL_TESTS();
}
