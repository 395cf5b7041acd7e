// SPDX-License-Identifier: MIT
#include "os/file_lock.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <sstream>

#include "os/printable.h"
#include "os/small_file.h"

namespace syscost {
namespace {

int lock(int fd, int patience) {
  for (;;) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || patience-- <= 0) return errno;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

std::string command_of(long pid) {
  std::string name = read_small_file("/proc/" + std::to_string(pid) + "/comm");
  return name.substr(0, name.find('\n'));
}

}  // namespace

FileLock::FileLock(int fd, int patience) : fd_(fd), error_(lock(fd, patience)) {}

FileLock::~FileLock() {
  if (is_held()) flock(fd_, LOCK_UN);
}

// A line is "1: FLOCK  ADVISORY  WRITE 17 fe:00:42 0 EOF": the process, then device and inode, the former in
// hexadecimal.
std::string lock_holder(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return {};
  char place[64];
  std::snprintf(place, sizeof place, "%02x:%02x:%llu", major(file.st_dev), minor(file.st_dev),
                static_cast<unsigned long long>(file.st_ino));
  std::istringstream locks(read_small_file("/proc/locks"));
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, manner, access, where;
    long pid = 0;
    if (!(words >> number >> kind >> manner >> access >> pid >> where)) continue;
    if (kind != "FLOCK" || where != place || pid <= 0) continue;
    const std::string name = printable(command_of(pid));
    return " (process " + std::to_string(pid) + (name.empty() ? "" : ", " + name) + ")";
  }
  return {};
}

}  // namespace syscost
