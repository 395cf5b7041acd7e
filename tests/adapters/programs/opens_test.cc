// SPDX-License-Identifier: MIT
//
// Opens of files below /proc and /sys, and opens with O_SYNC, by each syscall that opens a path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace {

constexpr const char* kStatus = "/proc/self/status";

void open_by(long number, long first, long second, long third, long fourth = 0) {
  const long fd = syscall(number, first, second, third, fourth);
  if (fd >= 0) close(static_cast<int>(fd));
}

void openat(const char* path) {
  open_by(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY);
}

TEST(Opens, OfFilesOfTheKernel) {
  open_by(SYS_open, reinterpret_cast<long>(kStatus), O_RDONLY, 0);
  openat(kStatus);
  open_how how{};
  open_by(SYS_openat2, AT_FDCWD, reinterpret_cast<long>(kStatus), reinterpret_cast<long>(&how), sizeof how);
  openat("/sys/kernel");
  const std::string on_the_heap = std::string("/sys/") + "devices";
  openat(on_the_heap.c_str());
  char on_the_stack[] = "/proc/self/stat";
  openat(on_the_stack);
}

TEST(Opens, OfOtherFiles) {
  openat("/dev/null");
  openat("/proc/self/no such file");
  openat("/proc");
  openat("/");
  openat("/system");
  open_by(SYS_openat, AT_FDCWD, 8, O_RDONLY);  // no path
  open_by(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/comm"), O_WRONLY);
}

TEST(Opens, ThatSyncEachWrite) {
  constexpr const char* kNull = "/dev/null";
  const auto null = reinterpret_cast<long>(kNull);
  open_by(SYS_open, null, O_WRONLY | O_SYNC, 0);
  open_by(SYS_openat, AT_FDCWD, null, O_RDWR | O_DSYNC);
  open_how how{};
  how.flags = O_WRONLY | O_DSYNC;
  open_by(SYS_openat2, AT_FDCWD, null, reinterpret_cast<long>(&how), sizeof how);
  // Again, with flags in a page that is not in memory yet. The kernel's read of the flags brings it in.
  const int file = memfd_create("flags", MFD_CLOEXEC);
  ASSERT_EQ(write(file, &how, sizeof how), static_cast<ssize_t>(sizeof how));
  void* const untouched = mmap(nullptr, sizeof how, PROT_READ, MAP_PRIVATE, file, 0);
  ASSERT_NE(untouched, MAP_FAILED);
  open_by(SYS_openat2, AT_FDCWD, null, reinterpret_cast<long>(untouched), sizeof how);
  munmap(untouched, sizeof how);
  close(file);
  // Not these: nothing can be written, nothing is synced, nothing is opened.
  open_by(SYS_openat, AT_FDCWD, null, O_RDONLY | O_SYNC);
  open_by(SYS_openat, AT_FDCWD, null, O_WRONLY);
  open_by(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/no/such/file"), O_WRONLY | O_SYNC);
}

// The path ends with the last byte that is mapped.
TEST(Opens, OfAPathThatEndsWithItsMemory) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  munmap(memory + page, page);
  for (const char* const one : {kStatus, "/", "/proc"}) {
    const std::size_t size = std::strlen(one) + 1;
    openat(static_cast<const char*>(std::memcpy(memory + page - size, one, size)));
  }
  munmap(memory, page);
}

TEST(Opens, OfAPathOnTwoPages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  for (std::size_t before = 1; before < 6; ++before) {
    for (const char* const one : {kStatus, "/dev/null"}) openat(std::strcpy(memory + page - before, one));
  }
  munmap(memory, 2 * page);
}

}  // namespace
