// SPDX-License-Identifier: MIT
//
// Which file the program of this process is: bench and its programs execute and load others from its folder.
//
// Where /proc is not mounted, the kernel does not say. argv[0] and AT_EXECFN are no answer, because the caller of the
// program makes them up. Nor is a path that begins at the working directory: others may have put files there, and root
// would execute them. So the answer is an absolute path of this very file, or none, and the caller refuses then.
#pragma once

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace syscost {

inline constexpr const char* kOwnProgramLink = "/proc/self/exe";

/// Absolute; empty if it is not known, and errno says why.
inline std::string own_program_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink(kOwnProgramLink, path.data(), path.size() - 1);
  if (size < 0) return {};
  struct stat running {};
  struct stat named {};
  if (stat(kOwnProgramLink, &running) != 0) return {};
  // The kernel has no path for a file that was deleted, or that cannot be reached from this root.
  if (path[0] == '/' && stat(path.data(), &named) == 0 && named.st_dev == running.st_dev &&
      named.st_ino == running.st_ino) {
    return {path.data(), static_cast<std::size_t>(size)};
  }
  errno = ENOENT;
  return {};
}

/// What to say where it is not known, with the errno of own_program_path(). The remedy is a line of its own.
inline std::string why_own_program_is_unknown(int error) {
  return std::string("this program's own folder is not known: ") + kOwnProgramLink + ": " + std::strerror(error);
}
inline constexpr const char* kOwnProgramRemedy =
    "mount /proc (mount -t proc proc /proc), and start the program by the file that is installed";

}  // namespace syscost
