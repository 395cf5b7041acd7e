// SPDX-License-Identifier: MIT
#include "os/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace syscost {
namespace {

// Not a std::ifstream: it throws when the path turns out to be a folder.
template <class String>
String read_into(String text, const char* path) {
  // In place of git's file there may be a FIFO, which would block the open, or a link to a device, which may have no
  // end.
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return text;
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return text;
  }
  std::array<char, 4096> chunk{};
  for (;;) {
    ssize_t count = read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  close(fd);
  return text;
}

}  // namespace

std::string read_small_file(const std::string& path) {
  return read_into(std::string(), path.c_str());
}

std::pmr::string read_small_file(const char* path, std::pmr::memory_resource& memory) {
  return read_into(std::pmr::string(&memory), path);
}

}  // namespace syscost
