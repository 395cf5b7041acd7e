// SPDX-License-Identifier: MIT
#include "extras/crash/states/image.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "os/files.h"

namespace syscost::crash {
namespace {

constexpr Digest kStart = Digest{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
constexpr Digest kPrime = Digest{1} << 88 | 0x13b;

void add_text(Digest& digest, std::string_view bytes) {
  for (const char byte : bytes) digest = (digest ^ static_cast<unsigned char>(byte)) * kPrime;
}
template <class Number>
void add_number(Digest& digest, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    digest = (digest ^ static_cast<unsigned char>(number >> (8 * i))) * kPrime;
  }
}

}  // namespace

Node add_inode(Image& image, Inode inode) {
  image.inodes.push_back(std::move(inode));
  return static_cast<Node>(image.inodes.size() - 1);
}

Node find(const Image& image, std::string_view path) {
  Node at = kRoot;
  while (!path.empty()) {
    const std::size_t length = std::min(path.find('/'), path.size());
    const auto& entries = image.inodes[at].entries;
    const auto entry = entries.find(std::string(path.substr(0, length)));
    if (entry == entries.end()) return kNoNode;
    at = entry->second;
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  return at;
}

Digest Digester::digest_of(const std::shared_ptr<const std::string>& data) {
  if (data == nullptr || data->empty()) return kStart;
  const auto known = known_.find(data);
  if (known != known_.end()) return known->second;
  Digest digest = kStart;
  add_text(digest, *data);
  // Contents that only one state has are not worth keeping.
  if (data.use_count() > 1) known_.emplace(data, digest);
  return digest;
}

Digest Digester::digest(const Image& image) {
  Digest digest = kStart;
  std::map<Node, std::uint32_t> met;  // in which order; the second name of an inode is a hard link
  std::vector<Node> open = {kRoot};
  met.emplace(kRoot, 0);
  while (!open.empty()) {
    const Inode& folder = image.inodes[open.back()];
    open.pop_back();
    add_number(digest, folder.entries.size());
    for (const auto& [name, node] : folder.entries) {
      const Inode& inode = image.inodes[node];
      add_number(digest, name.size());
      add_text(digest, name);
      const auto [place, is_new] = met.emplace(node, static_cast<std::uint32_t>(met.size()));
      add_number(digest, place->second);
      if (!is_new) continue;
      add_number(digest, static_cast<std::uint8_t>(inode.kind));
      add_number(digest, inode.mode);
      if (inode.kind == Kind::folder) {
        open.push_back(node);
      } else {
        add_number(digest, inode.content().size());
        add_number(digest, digest_of(inode.data));
      }
    }
  }
  return digest;
}

namespace {

constexpr mode_t kPermissions = 07777;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

// ---- reading --------------------------------------------------------------------------------------------------------

class Reading {
 public:
  explicit Reading(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  Result<Snapshot> read_all(const std::string& directory) {
    struct stat status {};
    if (stat(directory.c_str(), &status) != 0) return errno_failure("read", directory, errno);
    if (!S_ISDIR(status.st_mode)) return errno_failure("read", directory, ENOTDIR);
    device_ = status.st_dev;
    snapshot_.image.inodes[kRoot].mode = status.st_mode & kPermissions;
    snapshot_.nodes[{status.st_dev, status.st_ino}] = kRoot;
    folders_.emplace_back(directory, kRoot);
    while (!folders_.empty()) {
      const auto [path, node] = folders_.back();
      folders_.pop_back();
      if (Result<void> read = read_folder(path, node); !read.ok()) return read.failure();
    }
    return std::move(snapshot_);
  }

 private:
  Result<void> read_folder(const std::string& path, Node folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(path.c_str()), closedir);
    if (open == nullptr) return errno_failure("read", path, errno);
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(open.get());
      if (entry == nullptr) return errno == 0 ? Result<void>() : errno_failure("read", path, errno);
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (Result<void> read = read_entry(path + "/" + name, folder, name); !read.ok()) return read;
    }
  }

  Result<void> read_entry(const std::string& path, Node folder, const std::string& name) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return errno_failure("read", path, errno);
    const FileKey key = {status.st_dev, status.st_ino};
    const auto known = snapshot_.nodes.find(key);
    if (known != snapshot_.nodes.end()) {
      snapshot_.image.inodes[folder].entries[name] = known->second;
      return {};
    }
    Inode inode;
    inode.mode = status.st_mode & kPermissions;
    if (S_ISDIR(status.st_mode)) {
      inode.kind = Kind::folder;
      if (status.st_dev != device_) {
        return Failure{"Another file system is mounted on " + path + ".", "Unmount it, or choose another directory."};
      }
    } else if (S_ISLNK(status.st_mode)) {
      inode.kind = Kind::symlink;
      char target[PATH_MAX];
      const ssize_t length = readlink(path.c_str(), target, sizeof target);
      if (length < 0) return errno_failure("read", path, errno);
      inode.data = std::make_shared<const std::string>(target, static_cast<std::size_t>(length));
    } else if (S_ISREG(status.st_mode)) {
      Result<std::string> content = read_content(path);
      if (!content.ok()) return content.failure();
      inode.data = std::make_shared<const std::string>(std::move(content.value()));
    } else {
      return Failure{path + " is neither a file nor a directory nor a symbolic link.",
                     "Make sockets, pipes and devices in another directory."};
    }
    const bool is_folder = inode.kind == Kind::folder;
    const Node node = add_inode(snapshot_.image, std::move(inode));
    snapshot_.image.inodes[folder].entries[name] = node;
    snapshot_.nodes[key] = node;
    if (is_folder) folders_.emplace_back(path, node);
    return {};
  }

  Result<std::string> read_content(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.number() < 0) return errno_failure("read", path, errno);
    std::string content;
    constexpr std::size_t kPiece = 1 << 16;
    while (true) {
      const std::size_t before = content.size();
      content.resize(before + kPiece);
      const ssize_t count = read(file.number(), content.data() + before, kPiece);
      if (count < 0 && errno != EINTR) return errno_failure("read", path, errno);
      content.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
      if (count == 0) break;
      if (bytes_ + content.size() > most_bytes_) {
        return Failure{"The files of the directory have more than " + std::to_string(most_bytes_ >> 20) + " MiB.",
                       "Let the test begin with smaller files: each state is a copy of them."};
      }
    }
    bytes_ += content.size();
    return content;
  }

  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  dev_t device_ = 0;
  Snapshot snapshot_;
  std::vector<std::pair<std::string, Node>> folders_;
};

// ---- writing --------------------------------------------------------------------------------------------------------

Result<void> write_content(const std::string& path, const Inode& inode) {
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, inode.mode & kPermissions));
  if (file.number() < 0) return errno_failure("make", path, errno);
  if (const int error = write_whole(file.number(), inode.content()); error != 0) {
    return errno_failure("write", path, error);
  }
  // The umask may have taken some away.
  if (fchmod(file.number(), inode.mode & kPermissions) != 0) return errno_failure("write", path, errno);
  return {};
}

}  // namespace

Result<Snapshot> read_files(const std::string& directory, std::uint64_t most_bytes) {
  return Reading(most_bytes).read_all(directory);
}

Result<void> write_files(const Image& image, const std::string& directory) {
  if (mkdir(directory.c_str(), S_IRWXU) != 0) return errno_failure("make", directory, errno);
  std::map<Node, std::string> made;
  std::vector<std::pair<std::string, Node>> folders = {{directory, kRoot}};
  while (!folders.empty()) {
    const auto [path, folder] = folders.back();
    folders.pop_back();
    for (const auto& [name, node] : image.inodes[folder].entries) {
      const Inode& inode = image.inodes[node];
      const std::string at = path + "/" + name;
      const auto [first, is_new] = made.emplace(node, at);
      if (inode.kind == Kind::folder) {
        // A directory has one name, but a power cut in a model without order may leave two.
        if (mkdir(at.c_str(), (inode.mode & kPermissions) | S_IRWXU) != 0) return errno_failure("make", at, errno);
        if (is_new) folders.emplace_back(at, node);
      } else if (!is_new) {
        if (link(first->second.c_str(), at.c_str()) != 0) return errno_failure("link", at, errno);
      } else if (inode.kind == Kind::symlink) {
        if (symlink(std::string(inode.content()).c_str(), at.c_str()) != 0) return errno_failure("make", at, errno);
      } else if (Result<void> written = write_content(at, inode); !written.ok()) {
        return written;
      }
    }
  }
  return {};
}

}  // namespace syscost::crash
