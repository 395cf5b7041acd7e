// SPDX-License-Identifier: MIT
#include "session/run/run_info.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "os/environment.h"
#include "os/files.h"

namespace syscost::session {
namespace {

constexpr std::array kVariables = {"GITHUB_SHA",  "CI_COMMIT_SHA", "BUILDKITE_COMMIT",
                                   "CIRCLE_SHA1", "GIT_COMMIT",    "BUILD_SOURCEVERSION"};

/// A commit in SHA-1 or SHA-256.
bool is_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// True for a name that leads to a file below refs/.
bool is_reference(std::string_view name) {
  if (!name.starts_with("refs/") || name.ends_with('/')) return false;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  return name.find("..") == std::string_view::npos && name.find("/.") == std::string_view::npos &&
         name.find("//") == std::string_view::npos && std::none_of(name.begin(), name.end(), is_control);
}

/// A folder of a repository, and what a message calls it.
struct GitFolder {
  Descriptor opened;
  std::string shown;
};

/// If `name` in `folder` is a link, `why_not` says so of `path`.
void note_link(const Descriptor& folder, const std::string& name, const std::string& path, std::string& why_not) {
  struct stat status {};
  const bool is_there = fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && S_ISLNK(status.st_mode) && why_not.empty()) why_not = path + " is a link";
}

/// The first line of the file `path` in `git`. If a part of `path` is a link, "", and `why_not` says so.
std::string first_line_of(const GitFolder& git, const std::string& path, std::string& why_not) {
  Descriptor inner;
  const Descriptor* last = &git.opened;
  std::size_t begin = 0;
  for (std::size_t slash; (slash = path.find('/', begin)) != std::string::npos; begin = slash + 1) {
    const std::string name = path.substr(begin, slash - begin);
    Descriptor next = open_folder_in(last->number(), name.c_str());
    if (!next.is_open()) {
      note_link(*last, name, git.shown + "/" + path.substr(0, slash), why_not);
      return {};
    }
    inner = std::move(next);
    last = &inner;
  }
  const std::string name = path.substr(begin);
  const Descriptor file = open_regular(name.c_str(), O_NOFOLLOW, last->number());
  if (!file.is_open()) note_link(*last, name, git.shown + "/" + path, why_not);
  std::string text;
  if (!file.is_open() || !read_whole(file, kMostOfSmallFile, text)) return {};
  return text.substr(0, text.find('\n'));
}

/// The hash of `name` in packed-refs, which has a line `HASH NAME` for each name. It may have many thousand.
std::string packed_reference(const GitFolder& git, const std::string& name, std::string& why_not) {
  const Descriptor file = open_regular("packed-refs", O_NOFOLLOW, git.opened.number());
  if (!file.is_open()) note_link(git.opened, "packed-refs", git.shown + "/packed-refs", why_not);
  const std::string wanted = " " + name;
  std::array<char, 4096> chunk{};
  std::string line;
  while (file.is_open()) {
    const ssize_t count = read(file.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    std::string_view rest(chunk.data(), static_cast<std::size_t>(count));
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      line += rest.substr(0, end);
      if (line.ends_with(wanted)) return line.substr(0, line.size() - wanted.size());
      line.clear();
    }
    line += rest;
    if (line.size() > kMostOfSmallFile) break;  // no file of git
  }
  return {};
}

/// Opens a folder of a repository. Closed, with the reason in `why_not`, if it may not be trusted.
Descriptor open_trusted(int folder, const std::string& path, const std::string& shown, std::string& why_not) {
  Descriptor opened(openat(folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!opened.is_open() || fstat(opened.number(), &status) != 0) return Descriptor();
  const std::string reason = why_not_trusted(status);
  if (reason.empty()) return opened;
  why_not = shown + " " + reason;
  return Descriptor();
}

FoundCommit commit_of_git_folder(GitFolder git) {
  constexpr std::string_view kReference = "ref: ";
  FoundCommit found;
  const std::string head = first_line_of(git, "HEAD", found.why_not);
  if (is_hash(head)) return {head, {}};
  if (!head.starts_with(kReference) || !is_reference(std::string_view(head).substr(kReference.size()))) return found;
  const std::string name = head.substr(kReference.size());
  // A linked work tree has its own HEAD and shares the branches.
  const std::string common = first_line_of(git, "commondir", found.why_not);
  if (!common.empty()) {
    git.shown += "/commondir";
    git.opened = open_trusted(git.opened.number(), common, git.shown, found.why_not);
    if (!git.opened.is_open()) return found;
  }
  found.hash = first_line_of(git, name, found.why_not);
  if (found.hash.empty()) found.hash = packed_reference(git, name, found.why_not);
  if (is_hash(found.hash)) return {found.hash, {}};
  found.hash.clear();
  return found;
}

/// The commit of the repository of `name`, a folder or a file that names one, or why not; nullopt if it is neither.
std::optional<FoundCommit> commit_of(const std::string& folder, const std::string& name) {
  constexpr std::string_view kPointer = "gitdir: ";
  struct stat own {};
  struct stat around {};
  if (lstat(name.c_str(), &own) != 0 || stat(folder.empty() ? "/" : folder.c_str(), &around) != 0) return std::nullopt;
  // In a folder with the sticky bit only the owner of a file can put another one in its place.
  if ((around.st_mode & S_ISVTX) != 0) around.st_mode &= ~static_cast<mode_t>(S_IWOTH);
  // The rights of a link mean nothing.
  if (S_ISLNK(own.st_mode)) own.st_mode &= ~static_cast<mode_t>(S_IWOTH);
  FoundCommit found;
  if (const std::string reason = why_not_trusted(own); !reason.empty()) {
    found.why_not = name + " " + reason;
  } else if (const std::string outer = why_not_trusted(around); !outer.empty()) {
    found.why_not = (folder.empty() ? "/" : folder) + " " + outer;
  }
  if (!S_ISREG(own.st_mode)) {
    if (access((name + "/HEAD").c_str(), R_OK) != 0) return std::nullopt;
    if (!found.why_not.empty()) return found;
    Descriptor git = open_trusted(AT_FDCWD, name, name, found.why_not);
    return git.is_open() ? commit_of_git_folder({std::move(git), name}) : found;
  }
  if (!found.why_not.empty()) return found;
  // Submodules and linked work trees have a file there that names the folder.
  const GitFolder outer{Descriptor(open(folder.empty() ? "/" : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                        folder};
  const std::string pointer = outer.opened.is_open() ? first_line_of(outer, ".git", found.why_not) : std::string();
  if (!pointer.starts_with(kPointer)) return std::nullopt;
  const std::string shown = name + "'s folder";
  Descriptor git = open_trusted(outer.opened.number(), pointer.substr(kPointer.size()), shown, found.why_not);
  return git.is_open() ? commit_of_git_folder({std::move(git), shown}) : found;
}

}  // namespace

FoundCommit commit_of_repository(std::string folder) {
  for (;;) {
    if (std::optional<FoundCommit> found = commit_of(folder, folder + "/.git")) return *found;
    if (folder.empty()) return {};
    folder.erase(folder.rfind('/'));
  }
}

FoundCommit find_commit() {
  for (const char* name : kVariables) {
    if (const char* value = variable(name); value != nullptr && *value != '\0') return {value, {}};
  }
  std::array<char, PATH_MAX> folder{};
  return getcwd(folder.data(), folder.size()) != nullptr ? commit_of_repository(folder.data()) : FoundCommit();
}

}  // namespace syscost::session
