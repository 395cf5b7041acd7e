// SPDX-License-Identifier: MIT
//
// Files: how syscost opens, reads, replaces and locks files and folders, and finds them by their paths.
//
// Someone else may have chosen a file, and a test may deny calls by a seccomp filter. The program may define libc's
// names, by which the C++ library makes its system calls: then its function would be called, and answer
// (libc/symbols.h). So the parts of std::filesystem, the file streams and the clocks that make calls stay outside
// libsyscost; std::filesystem::path itself makes none.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace syscost {

// In a folder that several users share, and in a repository of a stranger, anyone may have put a link, a FIFO, a file
// without an end or a folder of their own under a name that we use. So a file is opened without waiting and without a
// terminal, must be a regular one, and is read up to a bound that the caller names; where a name is not the user's own
// choice, no link is followed and the owner counts.

/// An open file or folder, or none; closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// The caller closes it.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Opens the regular file `path`, relative to `folder`, to read it. `more_flags`: O_NOFOLLOW, for one. If there is
/// none, errno says why; EINVAL: it is a FIFO, a device or a socket.
Descriptor open_regular(const char* path, int more_flags = 0, int folder = AT_FDCWD);

/// Opens the folder `name` in `folder`, but no link.
Descriptor open_folder_in(int folder, const char* name);

/// Appends all bytes of `file` to `text`. False if that fails, or if there are more than `most`; then a part is there.
template <class String>
bool read_whole(const Descriptor& file, std::size_t most, String& text);

/// Writes all of `text`; returns 0 or an errno. At a limit of the size of files (RLIMIT_FSIZE) it returns EFBIG, and
/// the kernel's SIGXFSZ does not end the process. Makes syscalls: between windows only. Changes errno.
int write_whole(int file, std::string_view text);

/// True if files of `owner` may be trusted: it is the effective user, root, or the user who started `sudo`, as for git.
bool is_trusted_owner(uid_t owner);

/// Why a file or folder may not be trusted, as the end of a sentence: `belongs to another user (id 17)`, `can be
/// written by other users`. "" if it may. The group is trusted: its owner chose who shares it.
std::string why_not_trusted(const struct stat& status);

/// A file that is there whole, or not at all: it is written beside its path, under a name that no one can foresee, and
/// takes the path's place in finish(). Without that, nothing is left. A character device is not replaced, but written
/// to. Each function returns an errno, or 0.
class Replacement {
 public:
  Replacement() = default;
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  int begin(const std::string& path, mode_t mode);
  int write(std::string_view text);
  int finish();

 private:
  Descriptor file_;
  std::string path_;
  std::string beside_;
};

/// Makes a folder that only this user can enter: its name is `prefix` and six characters that no one can foresee. "" if
/// that fails; errno says why.
std::string make_own_folder(const std::string& prefix);

/// Like fstat(2), by the call that a seccomp filter of a test allows.
///
/// The kernel has two calls for it, fstat and newfstatat, and a C library uses one of them: glibc 2.39 and later the
/// first, older ones the second. A filter may deny one of them by number. If a test denies a call that its own code
/// does not make, it must not lose its rows.
inline int status_of(int fd, struct stat* status) {
  if (fstat(fd, status) == 0) return 0;
  if (errno == EBADF) return -1;
  const int error = errno;
  if (syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH) == 0) return 0;
#ifdef SYS_fstat
  if (syscall(SYS_fstat, fd, status) == 0) return 0;
#endif
  errno = error;
  return -1;
}

/// More than any file of /proc has: the arguments and variables of a process are at most 6 MiB.
inline constexpr std::size_t kMostOfProc = std::size_t{8} << 20;
/// For files that someone else may have written.
inline constexpr std::size_t kMostOfSmallFile = std::size_t{64} << 10;

/// The file's contents; empty when it cannot be read, is no regular file, or has more than `most` bytes.
std::string read_small_file(const std::string& path, std::size_t most = kMostOfProc);
/// The same in memory of the caller's choice.
std::pmr::string read_small_file(const char* path, std::pmr::memory_resource& memory, std::size_t most = kMostOfProc);

// Paths, by functions of libc instead of std::filesystem's.

bool exists(const std::string& path);
bool is_folder(const std::string& path);
bool is_regular_file(const std::string& path);

/// The path from / on: a relative one begins at the working directory. "" if that is unknown; errno says why.
std::string absolute_path(const std::string& path);

/// The target of the link; "" if `path` is none.
std::string read_link(const std::string& path);

/// `path` without links, as far as it exists; the rest follows as it is. "" if that is unknown; errno says why.
std::string without_links(const std::string& path);

/// The names in a folder, without "." and ".."; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

/// Makes the folder, and those above it that are missing. 0 or an errno.
int make_folders(const std::string& path);

/// The lock under which processes append to one file, held for the life of the object. Other writers wait; readers are
/// not kept out. Makes syscalls: between windows only.
///
/// Any process that can open a file, even for reading only, can lock it and hold the lock for ever. Our writers hold it
/// for one write, so if a lock is held for longer, another program holds it. So waiting for it takes a bounded time.
class FileLock {
 public:
  /// How often a waiter tries, a millisecond apart: together a second, or longer on a busy machine.
  static constexpr int kPatience = 1000;

  explicit FileLock(int fd, int patience = kPatience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool is_held() const { return error_ == 0; }
  /// 0 or an errno; EWOULDBLOCK when another process holds it and patience is at an end.
  int error() const { return error_; }

 private:
  int fd_;
  int error_;
};

/// The process that holds the lock of `fd`: " (process 17, flock)"; empty if /proc/locks does not show it.
std::string lock_holder(int fd);

}  // namespace syscost
