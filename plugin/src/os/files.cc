// SPDX-License-Identifier: MIT
#include "os/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>

#include "os/environment.h"
#include "os/file_status.h"

namespace syscost {

Descriptor open_regular(const char* path, int more_flags, int folder) {
  int number;
  do {
    number = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | more_flags);
  } while (number < 0 && errno == EINTR);
  Descriptor file(number);
  if (!file.is_open()) return file;
  struct stat status {};
  int reason = 0;
  if (status_of(file.number(), &status) != 0) {
    reason = errno;
  } else if (!S_ISREG(status.st_mode)) {
    reason = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  } else {
    return file;
  }
  file = Descriptor();
  errno = reason;
  return file;
}

Descriptor open_folder_in(int folder, const char* name) {
  return Descriptor(openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

template <class String>
bool read_whole(const Descriptor& file, std::size_t most, String& text) {
  std::array<char, 4096> chunk{};
  for (std::size_t filled = 0;;) {
    const ssize_t count = read(file.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) return true;
    filled += count < 0 ? 0 : static_cast<std::size_t>(count);
    if (filled > most) errno = EFBIG;
    if (count < 0 || filled > most) return false;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}
template bool read_whole(const Descriptor&, std::size_t, std::string&);
template bool read_whole(const Descriptor&, std::size_t, std::pmr::string&);

bool is_trusted_owner(uid_t owner) {
  if (owner == geteuid() || owner == 0) return true;
  const char* const before_sudo = geteuid() == 0 ? variable("SUDO_UID") : nullptr;
  return before_sudo != nullptr && std::to_string(owner) == before_sudo;
}

std::string why_not_trusted(const struct stat& status) {
  if (!is_trusted_owner(status.st_uid)) {
    return "belongs to another user (id " + std::to_string(status.st_uid) + ")";
  }
  return (status.st_mode & S_IWOTH) == 0 ? "" : "can be written by other users";
}

Replacement::~Replacement() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

int Replacement::begin(const std::string& path, mode_t mode) {
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0 && S_ISCHR(there.st_mode)) {
    file_ = Descriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
    return file_.is_open() ? 0 : errno;
  }
  std::string beside = path + ".XXXXXX";
  file_ = Descriptor(mkostemp(beside.data(), O_CLOEXEC));
  if (!file_.is_open()) return errno;
  path_ = path;
  beside_ = std::move(beside);
  return fchmod(file_.number(), mode) != 0 ? errno : 0;
}

int Replacement::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int Replacement::finish() {
  if (close(file_.release()) != 0) return errno;
  if (!beside_.empty() && std::rename(beside_.c_str(), path_.c_str()) != 0) return errno;
  beside_.clear();
  return 0;
}

std::string make_own_folder(const std::string& prefix) {
  std::string path = prefix + "XXXXXX";
  return mkdtemp(path.data()) != nullptr ? path : std::string();
}

}  // namespace syscost
