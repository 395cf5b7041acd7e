// SPDX-License-Identifier: MIT
#include "os/temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace syscost {
namespace {

constexpr const char* kMounted = "another file system is mounted there";
constexpr const char* kNotKnown = "the kernel does not tell whether something is mounted there";

/// This tells a folder from any other, and whether it can be emptied.
struct Folder {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
  std::optional<std::uint64_t> mount;
};

/// `file` may be open with O_PATH.
std::optional<Folder> look_at(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return std::nullopt;
  Folder folder{status.st_dev, status.st_ino, status.st_mode, mount_by_statx(file)};
  if (!folder.mount) folder.mount = mount_by_proc(file);
  return folder;
}

/// Opens the folder `name` without crossing a mount or following a link. On failure `why` says why not.
class OpenedFolder {
 public:
  OpenedFolder(int parent, const Folder& of_parent, const std::string& name, std::string& why) {
    const int path = openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (path < 0) {
      if (errno != ENOENT) why = std::strerror(errno);
      return;
    }
    const std::optional<Folder> found = look_at(path);
    if (!found) {
      why = std::strerror(errno);
    } else if (found->mount.has_value() != of_parent.mount.has_value()) {
      why = kNotKnown;
    } else if (found->device != of_parent.device || found->mount != of_parent.mount) {
      // A kernel that has no numbers for mounts, such as gVisor's, has only the device.
      why = kMounted;
    } else {
      folder_ = *found;
      open_to_read(path, why);
    }
    close(path);
  }

  int file() const { return file_; }
  const Folder& folder() const { return folder_; }

 private:
  /// A test may have taken the permissions of its folder.
  void open_to_read(int path, std::string& why) {
    const std::string name = "/proc/self/fd/" + std::to_string(path);
    if ((folder_.mode & S_IRWXU) != S_IRWXU) chmod(name.c_str(), (folder_.mode & 07777) | S_IRWXU);
    file_ = openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ < 0) why = std::strerror(errno);
  }

  int file_ = -1;
  Folder folder_;
};

std::vector<std::string> names_in(int file) {
  std::vector<std::string> names;
  const int own = dup(file);  // closedir() closes it
  DIR* const listing = own >= 0 ? fdopendir(own) : nullptr;
  if (listing == nullptr) {
    if (own >= 0) close(own);
    return names;
  }
  while (const dirent* const entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(listing);
  return names;
}

class Removal {
 public:
  std::vector<LeftBehind> take_left() { return std::move(left_); }

  void note(const std::string& path, const std::string& why) {
    ++count_;
    if (left_.size() < kMostLeftNamed) left_.push_back({path, why});
  }

  /// Removes all that is in the folder `file`, which it closes. `path`: for messages.
  void empty(int file, const Folder& folder, const std::string& path) {
    std::vector<Level> levels;
    levels.push_back({folder, path, "", count_, {}});
    remove_files(file, levels.back());
    while (!levels.empty()) {
      Level& level = levels.back();
      if (!level.folders.empty()) {
        const std::string name = std::move(level.folders.back());
        level.folders.pop_back();
        std::string why;
        const OpenedFolder below(file, level.folder, name, why);
        if (below.file() < 0) {
          if (!why.empty()) note(level.path + "/" + name, why);
          continue;
        }
        close(file);
        file = below.file();
        std::string its_path = level.path + "/" + name;
        levels.push_back({below.folder(), std::move(its_path), name, count_, {}});
        remove_files(file, levels.back());
        continue;
      }
      const Level done = std::move(level);
      levels.pop_back();
      if (levels.empty()) break;
      const int up = openat(file, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      close(file);
      file = up;
      const std::optional<Folder> found = up >= 0 ? look_at(up) : std::nullopt;
      // Something has moved the folder meanwhile: what is above it now is not ours to remove.
      if (!found || found->inode != levels.back().folder.inode || found->device != levels.back().folder.device) {
        note(done.path, "it was moved while it was removed");
        break;
      }
      const bool has_gone = unlinkat(file, done.name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
      // Where something in it is left, that is named already.
      if (!has_gone && count_ == done.left_before) note(done.path, std::strerror(errno));
    }
    if (file >= 0) close(file);
  }

 private:
  struct Level {
    Folder folder;
    std::string path;
    std::string name;                  ///< In the folder above.
    std::size_t left_before = 0;       ///< How many things were left when this folder was entered.
    std::vector<std::string> folders;  ///< That are still to be removed.
  };

  /// Folders go to `level.folders`.
  void remove_files(int file, Level& level) {
    for (std::string& name : names_in(file)) {
      if (unlinkat(file, name.c_str(), 0) == 0 || errno == ENOENT) continue;
      const int error = errno;
      struct stat status {};
      const bool is_folder =
          fstatat(file, name.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0 || S_ISDIR(status.st_mode);
      if (is_folder) {
        level.folders.push_back(std::move(name));
      } else {
        note(level.path + "/" + name, error == EBUSY ? kMounted : std::strerror(error));
      }
    }
  }

  std::vector<LeftBehind> left_;
  std::size_t count_ = 0;
};

std::vector<LeftBehind> remove(const std::string& path, bool is_kept) {
  if (!is_kept && (unlink(path.c_str()) == 0 || errno == ENOENT)) return {};
  std::string whole = path;
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  const std::size_t slash = whole.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : whole.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? whole : whole.substr(slash + 1);
  const int above = open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const std::optional<Folder> of_above = above >= 0 ? look_at(above) : std::nullopt;
  Removal removal;
  std::string why;
  if (of_above) {
    const OpenedFolder opened(above, *of_above, name, why);
    if (opened.file() >= 0) removal.empty(opened.file(), opened.folder(), whole);
  } else if (errno != ENOENT) {
    why = std::strerror(errno);
  }
  if (!why.empty()) removal.note(whole, why);
  std::vector<LeftBehind> left = removal.take_left();
  if (!is_kept && above >= 0 && left.empty() && unlinkat(above, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    left.push_back({whole, std::strerror(errno)});
  }
  if (above >= 0) close(above);
  return left;
}

}  // namespace

std::optional<std::uint64_t> mount_by_statx([[maybe_unused]] int file) {
#ifdef STATX_MNT_ID
  struct statx status {};
  if (statx(file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) == 0 &&
      (status.stx_mask & STATX_MNT_ID) != 0) {
    return status.stx_mnt_id;
  }
#endif
  return std::nullopt;
}

std::optional<std::uint64_t> mount_by_proc(int file) {
  const int info = open(("/proc/self/fdinfo/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC);
  if (info < 0) return std::nullopt;
  std::array<char, 512> buffer{};
  const ssize_t got = read(info, buffer.data(), buffer.size());
  close(info);
  const std::string_view text(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  constexpr std::string_view kLine = "mnt_id:\t";
  const std::size_t at = text.find(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data() + at + kLine.size(), end, number).ec != std::errc()) return std::nullopt;
  return number;
}

std::vector<LeftBehind> remove_tree(const std::string& path) {
  return remove(path, false);
}

std::vector<LeftBehind> remove_below(const std::string& path) {
  return remove(path, true);
}

std::string text_of(const std::vector<LeftBehind>& left) {
  std::string text;
  for (const LeftBehind& one : left) text += (text.empty() ? "" : "; ") + one.path + ": " + one.why;
  return text;
}

}  // namespace syscost
