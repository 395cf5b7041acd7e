// SPDX-License-Identifier: MIT
#include "os/files.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <memory_resource>
#include <sstream>
#include <string_view>

#include "os/environment.h"
#include "os/signals.h"
#include "os/text.h"

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

int write_whole(int file, std::string_view text) {
  SignalHold hold(SIGXFSZ);
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  hold.was_not_raised();
  return 0;
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
  return write_whole(file_.number(), text);
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

namespace {

template <class String>
String read_into(String text, const char* path, std::size_t most) {
  const Descriptor file = open_regular(path);
  if (file.is_open() && !read_whole(file, most, text)) text.clear();
  return text;
}

}  // namespace

std::string read_small_file(const std::string& path, std::size_t most) {
  return read_into(std::string(), path.c_str(), most);
}

std::pmr::string read_small_file(const char* path, std::pmr::memory_resource& memory, std::size_t most) {
  return read_into(std::pmr::string(&memory), path, most);
}

namespace {

/// The kind of file that `path` leads to; 0 if it leads to none.
mode_t kind_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

}  // namespace

bool exists(const std::string& path) {
  return kind_of(path) != 0;
}

bool is_folder(const std::string& path) {
  return kind_of(path) == S_IFDIR;
}

bool is_regular_file(const std::string& path) {
  return kind_of(path) == S_IFREG;
}

std::string absolute_path(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::array<char, PATH_MAX> folder{};
  if (getcwd(folder.data(), folder.size()) == nullptr) return {};
  return (std::filesystem::path(folder.data()) / path).string();
}

std::string read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::string without_links(const std::string& path) {
  std::filesystem::path there = absolute_path(path);
  std::filesystem::path rest;
  std::array<char, PATH_MAX> real{};
  while (realpath(there.c_str(), real.data()) == nullptr) {
    if ((errno != ENOENT && errno != ENOTDIR) || !there.has_relative_path()) return {};
    rest = rest.empty() ? there.filename() : there.filename() / rest;
    there = there.parent_path();
  }
  return (std::filesystem::path(real.data()) / rest).lexically_normal().string();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  while (const dirent* const entry = open != nullptr ? readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

int make_folders(const std::string& path) {
  if (is_folder(path)) return 0;
  const std::string above = std::filesystem::path(path).parent_path().string();
  if (!above.empty() && above != path) {
    if (const int error = make_folders(above); error != 0) return error;
  }
  constexpr mode_t kAll = 0777;  // without what the umask takes away
  if (mkdir(path.c_str(), kAll) == 0 || (errno == EEXIST && is_folder(path))) return 0;
  return errno;
}

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
