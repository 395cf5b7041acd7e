// SPDX-License-Identifier: MIT
#include "extras/profilers/session/artifacts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "csv/row.h"
#include "os/files.h"

namespace syscost::session {
namespace {

/// Room for `~N` and endings within the 255 bytes of a name.
constexpr std::size_t kLongestName = 120;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-+=,@ ").find(c) != std::string_view::npos;
}

/// FNV-1a.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

Failure cannot_write(const std::string& path, int error) {
  return errno_failure("write artifacts to", path, error);
}

/// Who owns the folder around it can replace it anyway, unless others can, too.
bool is_as_its_surroundings(const Descriptor& parent, const struct stat& status) {
  struct stat around {};
  return fstat(parent.number(), &around) == 0 && around.st_uid == status.st_uid &&
         ((around.st_mode | status.st_mode) & S_IWOTH) == 0;
}

/// Opens the folder `name` inside `parent`, and makes it where it is not there. `path` is for messages.
Result<Descriptor> enter(const Descriptor& parent, const std::string& name, const std::string& path) {
  const bool is_new = mkdirat(parent.number(), name.c_str(), 0777) == 0;
  if (!is_new && errno != EEXIST) return cannot_write(path, errno);
  Descriptor folder = open_folder_in(parent.number(), name.c_str());
  struct stat status {};
  if (!folder.is_open() && (errno == ELOOP || errno == ENOTDIR) &&
      fstatat(parent.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
    return Failure{"artifacts are not written through the link " + path,
                   "remove it, or name another folder by "
                   "--syscost_artifacts"};
  }
  if (!folder.is_open() || fstat(folder.number(), &status) != 0) return cannot_write(path, errno);
  if (!is_new && !is_trusted_owner(status.st_uid) && !is_as_its_surroundings(parent, status)) {
    return Failure{"artifacts are not written into " + path + ": it belongs to another user (id " +
                       std::to_string(status.st_uid) + ")",
                   "remove it, or name another folder by --syscost_artifacts, or another run by SYSCOST_RUN_ID"};
  }
  return folder;
}

/// Opens the folder to which `name` leads, if it is a link that the user, or root, has made.
Descriptor open_own_link(const Descriptor& parent, const char* name) {
  // The link that is looked at is the one that is read, whatever stands there meanwhile.
  const Descriptor link(openat(parent.number(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!link.is_open() || fstat(link.number(), &status) != 0) return Descriptor();
  if (!S_ISLNK(status.st_mode) || !is_trusted_owner(status.st_uid)) return Descriptor();
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(link.number(), "", target.data(), target.size() - 1);
  if (length <= 0) return Descriptor();
  return Descriptor(openat(parent.number(), target.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Opens `path`, which is below `root`, and makes what of it is not there.
Result<Descriptor> open_folder(const std::string& root, const std::string& path) {
  Result<Descriptor> opened = open_artifacts_root(root);
  if (!opened.ok()) return opened.failure();
  Descriptor folder = std::move(opened.value());
  for (std::size_t begin = root.size() + 1; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    Result<Descriptor> next = enter(folder, path.substr(begin, end - begin), path.substr(0, end));
    if (!next.ok()) return next.failure();
    folder = std::move(next.value());
    begin = end + 1;
  }
  return folder;
}

}  // namespace

Result<Descriptor> open_artifacts_root(const std::string& root) {
  const std::size_t slash = root.rfind('/');
  const bool is_our_choice = std::string_view(root).substr(slash + 1) == kArtifactsName;
  const std::string parent = root.substr(0, std::max<std::size_t>(slash, 1));
  const std::string& named = is_our_choice ? parent : root;
  if (const int error = make_folders(named); error != 0) return cannot_write(root, error);
  Descriptor folder(::open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return cannot_write(root, errno);
  if (!is_our_choice) return folder;
  if (Descriptor linked = open_own_link(folder, kArtifactsName); linked.is_open()) return linked;
  return enter(folder, kArtifactsName, root);
}

std::string safe_name(std::string_view raw) {
  const std::string text = csv::visible(raw);
  std::string name = text.substr(0, kLongestName);
  for (char& c : name) c = is_plain(c) ? c : '_';
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  if (name == text) return name;
  std::array<char, 16> hash{};
  std::snprintf(hash.data(), hash.size(), "-%08x", hash_of(raw));
  return name + hash.data();
}

Result<Artifacts> Artifacts::open(const std::string& root, std::string_view run_id, std::string_view program) {
  std::string folder = root + "/" + safe_name(run_id) + "/" + safe_name(program);
  const Result<Descriptor> made = open_folder(root, folder);
  if (!made.ok()) return made.failure();
  if (faccessat(made.value().number(), ".", W_OK | X_OK, AT_EACCESS) != 0) return cannot_write(folder, errno);
  return Artifacts(root, std::move(folder));
}

Result<std::string> Artifacts::make_folder(const std::string& parent, std::string_view name) const {
  const std::string inside = parent.empty() ? folder_ : parent;
  // A test may have removed what was there.
  const Result<Descriptor> opened = open_folder(root_, inside);
  if (!opened.ok()) return opened.failure();
  for (int i = 1;; ++i) {
    const std::string fresh = safe_name(name) + (i == 1 ? "" : "~" + std::to_string(i));
    std::string path = inside + "/" + fresh;
    if (mkdirat(opened.value().number(), fresh.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) return cannot_write(path, errno);
  }
}

Result<void> Artifacts::write(const std::string& folder, std::string_view name, std::string_view content) const {
  const std::string file = safe_name(name);
  const std::string path = folder + "/" + file;
  const Result<Descriptor> opened = open_folder(root_, folder);
  if (!opened.ok()) return opened.failure();
  const int fd =
      openat(opened.value().number(), file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) return cannot_write(path, errno);
  int error = write_whole(fd, content);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  unlinkat(opened.value().number(), file.c_str(), 0);
  return cannot_write(path, error);
}

Result<std::string> Artifacts::folder_of(OpenWindow& window) const {
  if (!window.folder.empty()) return window.folder;
  std::string name = window.test;
  if (!window.name.empty()) name += (name.empty() ? "" : " ") + window.name;
  if (window.repetition > 0) name += "." + std::to_string(window.repetition);
  Result<std::string> made = make_folder({}, name);
  if (made.ok()) window.folder = made.value();
  return made;
}

}  // namespace syscost::session
