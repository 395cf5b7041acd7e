// SPDX-License-Identifier: MIT
//
// Files: how syscost opens files and folders that someone else may have chosen.
//
// In a folder that several users share, and in a repository of a stranger, anyone may have put a link, a FIFO, a file
// without an end or a folder of their own under a name that we use. So a file is opened without waiting and without a
// terminal, must be a regular one, and is read up to a bound that the caller names; where a name is not the user's own
// choice, no link is followed and the owner counts.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace syscost {

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

}  // namespace syscost
