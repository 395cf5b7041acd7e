// SPDX-License-Identifier: MIT
#include "extras/crash/states/journal.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "extras/crash/states/model.h"

namespace syscost::crash {
namespace {

constexpr mode_t kModeBits = 07777;

}  // namespace

NamedTree::NamedTree(Snapshot before)
    : initial_(std::move(before.image)), now_(initial_), nodes_(std::move(before.nodes)) {
  for (Node node = 0; node < now_.inodes.size(); ++node) {
    for (const auto& [name, child] : now_.inodes[node].entries) places_[child] = {node, name};
  }
}

Node NamedTree::node_of(const SeenFile& seen) const {
  const auto found = nodes_.find(seen.key);
  return seen.is_there() && found != nodes_.end() ? found->second : kNoNode;
}

Node NamedTree::at(Node folder, const std::string& name) const {
  const auto found = now_.inodes[folder].entries.find(name);
  return found != now_.inodes[folder].entries.end() ? found->second : kNoNode;
}

std::string NamedTree::path_at(Node folder, const std::string& name) const {
  std::string path = name;
  for (Node node = folder; node != kRoot;) {
    const auto place = places_.find(node);
    if (place == places_.end()) break;
    path = place->second.name + "/" + path;
    node = place->second.folder;
  }
  return path;
}

std::string NamedTree::path_of(Node node) const {
  const auto place = places_.find(node);
  if (node == kRoot) return "the directory";
  return place != places_.end() ? path_at(place->second.folder, place->second.name) : "a file without a name";
}

Node NamedTree::add(const SeenFile& seen, Kind kind, const std::string& target) {
  Inode inode;
  inode.kind = kind;
  inode.mode = seen.mode & kModeBits;
  if (kind == Kind::symlink) inode.data = std::make_shared<const std::string>(target);
  const Node node = add_inode(initial_, inode);
  add_inode(now_, std::move(inode));
  nodes_[seen.key] = node;
  return node;
}

void NamedTree::change(const std::vector<EntryChange>& entries) {
  for (const EntryChange& entry : entries) {
    auto& names = now_.inodes[entry.folder].entries;
    if (entry.node == kNoNode) {
      names.erase(entry.name);
    } else {
      names[entry.name] = entry.node;
      places_[entry.node] = {entry.folder, entry.name};
    }
  }
}

namespace {

std::string_view last_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Failure not_modelled(const std::string& what, const std::string& instead) {
  return {what + ", and the model of power cuts lacks that.", instead};
}

class Journal {
 public:
  Journal(Snapshot before, const std::function<std::string(std::uint32_t)>& line_of)
      : tree_(std::move(before)), line_of_(line_of) {}

  Result<void> add(const FileCall& call) {
    call_ = &call;
    switch (call.number) {
      case FileCall::kMark:
        return done({.act = Act::mark, .text = call.path});
      case SYS_write:
      case SYS_writev:
      case SYS_pwrite64:
      case SYS_pwritev:
      case SYS_pwritev2:
      case SYS_copy_file_range:
      case SYS_sendfile:
        return write();
      case SYS_splice:
        return not_modelled("The body writes to a file by splice", "Write it by write(), sendfile or copy_file_range.");
      case SYS_io_submit:
      case SYS_io_uring_enter:
        return not_modelled("The body uses io_uring or io_submit", "Let it write by the usual calls in this test.");
      case SYS_truncate:
      case SYS_ftruncate:
        return resize(tree_.node_of(call.object), call.arguments[1]);
      case SYS_fallocate:
        return allocate();
      case SYS_fsync:
      case SYS_fdatasync:
        return sync();
      case SYS_sync:
      case SYS_syncfs:
        return sync_everything();
      case SYS_open:
      case SYS_openat:
      case SYS_openat2:
      case SYS_creat:
        return open();
      case SYS_mkdir:
      case SYS_mkdirat:
        return make(Kind::folder, "mkdir ");
      case SYS_mknod:
      case SYS_mknodat:
        return make(Kind::file, "create ");
      case SYS_symlink:
      case SYS_symlinkat:
        return make(Kind::symlink, "symlink ");
      case SYS_link:
      case SYS_linkat:
        return link();
      case SYS_unlink:
      case SYS_unlinkat:
      case SYS_rmdir:
        return remove();
      case SYS_rename:
      case SYS_renameat:
      case SYS_renameat2:
        return rename();
      default:
        return {};
    }
  }

  Recording take() { return {tree_.take_initial(), std::move(log_)}; }

 private:
  Result<void> done(Operation operation) {
    operation.begun = call_->begun;
    operation.ended = call_->ended;
    if (const std::string line = call_->stack != 0 ? line_of_(call_->stack) : std::string(); !line.empty()) {
      operation.text += " (" + line + ")";
    }
    tree_.change(operation.entries);
    log_.push_back(std::move(operation));
    return {};
  }

  std::uint64_t& size_after_calls(Node node) { return sizes_.try_emplace(node, tree_.size_before(node)).first->second; }

  bool is_synced() const {
    const bool by_flag = (call_->file_flags & (O_SYNC | O_DSYNC)) != 0;
    return by_flag || (call_->number == SYS_pwritev2 && (call_->arguments[5] & (RWF_SYNC | RWF_DSYNC)) != 0);
  }

  Result<void> write() {
    const Node node = tree_.node_of(call_->object);
    const auto count = static_cast<std::size_t>(call_->result);
    if (node == kNoNode || count == 0) return {};
    const bool is_at_position = call_->number == SYS_write || call_->number == SYS_writev;
    if (is_at_position || (call_->file_flags & O_APPEND) != 0) {
      std::uint64_t& last = last_at_position_[node];
      if (last > call_->begun) {
        return Failure{"Two calls wrote to " + tree_.path_of(node) +
                           " at the same time, each where the file position was, so it is not known where.",
                       "Let one thread at a time append to a file."};
      }
      last = call_->ended;
    }
    return write_bytes(node, call_->offset, call_->data.substr(0, count), "write ");
  }

  Result<void> write_bytes(Node node, std::uint64_t offset, std::string data, const char* verb) {
    std::uint64_t& size = size_after_calls(node);
    size = std::max(size, offset + data.size());
    const std::string text = verb + tree_.path_of(node) + ", " + std::to_string(data.size()) +
                             (data.size() == 1 ? " byte at " : " bytes at ") + std::to_string(offset);
    return done({.act = Act::write,
                 .node = node,
                 .offset = offset,
                 .data = std::make_shared<const std::string>(std::move(data)),
                 .is_synced = is_synced(),
                 .text = text});
  }

  Result<void> resize(Node node, std::uint64_t size) {
    if (node == kNoNode || size_after_calls(node) == size) return {};
    size_after_calls(node) = size;
    return done({.act = Act::resize,
                 .node = node,
                 .size = size,
                 .is_synced = is_synced(),
                 .text = "resize " + tree_.path_of(node) + " to " + std::to_string(size) + " bytes"});
  }

  Result<void> allocate() {
    const Node node = tree_.node_of(call_->object);
    if (node == kNoNode) return {};
    const std::uint64_t mode = call_->arguments[1];
    const std::uint64_t begin = call_->arguments[2];
    const std::uint64_t end = begin + call_->arguments[3];
    constexpr std::uint64_t kZero = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
    if ((mode & ~(kZero | FALLOC_FL_KEEP_SIZE | FALLOC_FL_UNSHARE_RANGE)) != 0) {
      return not_modelled("The body takes ranges out of a file by fallocate", "Do without it in this test.");
    }
    const std::uint64_t zeros_end = std::min(end, size_after_calls(node));
    if ((mode & kZero) != 0 && begin < zeros_end) {
      constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
      if (zeros_end - begin > kMost)
        return not_modelled("The body zeroes more than 64 MiB at once", "Use smaller files.");
      Result<void> zeroed = write_bytes(node, begin, std::string(zeros_end - begin, '\0'), "zero ");
      if (!zeroed.ok()) return zeroed;
    }
    return (mode & FALLOC_FL_KEEP_SIZE) == 0 && end > size_after_calls(node) ? resize(node, end) : Result<void>();
  }

  Result<void> sync() {
    const Node node = tree_.node_of(call_->object);
    if (node == kNoNode) return {};
    const bool is_folder = tree_.is_of_kind(node, Kind::folder);
    return done(
        {.act = is_folder ? Act::sync_folder : Act::sync_file, .node = node, .text = "fsync " + tree_.path_of(node)});
  }

  Result<void> sync_everything() {
    if (call_->number == SYS_syncfs && !tree_.is_on(call_->object.key.device)) return {};
    return done({.act = Act::sync_everything, .text = "sync"});
  }

  Result<void> open() {
    const SeenFile& before = call_->object;
    const SeenFile& file = call_->other;
    if (!file.is_there()) return {};
    const bool is_nameless = before.is_there() && S_ISDIR(before.mode) && !S_ISDIR(file.mode);
    if (is_nameless) {  // O_TMPFILE
      if (tree_.node_of(before) != kNoNode) tree_.add(file, Kind::file, {});
      return {};
    }
    if (before.is_there()) return file.size == 0 && before.size != 0 ? resize(tree_.node_of(file), 0) : Result<void>();
    const Node folder = tree_.node_of(call_->folder);
    if (folder == kNoNode) return {};
    if (S_ISLNK(before.mode)) {
      return not_modelled("The body makes a file by a symbolic link to nothing, " + call_->path,
                          "Give the file's path.");
    }
    const std::string name(last_name(call_->path));
    // Another thread made it between the look and the call.
    if (const Node there = tree_.at(folder, name); there != kNoNode && there == tree_.node_of(file)) return {};
    return make_entry(folder, name, Kind::file, "create ");
  }

  Result<void> make(Kind kind, const char* verb) {
    const Node folder = tree_.node_of(call_->folder);
    if (folder == kNoNode || !call_->other.is_there()) return {};
    if (kind == Kind::file && !S_ISREG(call_->other.mode)) {
      return not_modelled("The body makes a pipe, a socket or a device, " + call_->path,
                          "Let it make that in another directory.");
    }
    return make_entry(folder, std::string(last_name(call_->path)), kind, verb);
  }

  Result<void> make_entry(Node folder, const std::string& name, Kind kind, const char* verb) {
    const Node node = tree_.add(call_->other, kind, call_->other_path);
    return done({.act = Act::entries,
                 .node = node,
                 .entries = {{folder, name, node}},
                 .text = verb + tree_.path_at(folder, name)});
  }

  static Failure from_outside(const std::string& path) {
    return not_modelled("The body brings a file from another directory, " + path + ", into the recorded one",
                        "Record the directory that holds both.");
  }

  Result<void> link() {
    const Node folder = tree_.node_of(call_->other_folder);
    const Node node = tree_.node_of(call_->object);
    if (folder == kNoNode) return {};
    if (node == kNoNode) return from_outside(call_->path);
    const std::string name(last_name(call_->other_path));
    const std::string text = "link " + tree_.path_at(folder, name);
    return done({.act = Act::entries, .node = node, .entries = {{folder, name, node}}, .text = text});
  }

  Result<void> remove() {
    const Node folder = tree_.node_of(call_->folder);
    if (folder == kNoNode) return {};
    const std::string name(last_name(call_->path));
    const Node node = tree_.at(folder, name);
    const bool is_folder = node != kNoNode && tree_.is_of_kind(node, Kind::folder);
    const std::string text = (is_folder ? "rmdir " : "unlink ") + tree_.path_at(folder, name);
    return done({.act = Act::entries, .node = node, .entries = {{folder, name, kNoNode}}, .text = text});
  }

  Result<void> rename() {
    const Node from = tree_.node_of(call_->folder);
    const Node into = tree_.node_of(call_->other_folder);
    const std::uint64_t flags = call_->number == SYS_renameat2 ? call_->arguments[4] : 0;
    const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
    if (from == kNoNode && into == kNoNode) return {};
    if ((flags & RENAME_WHITEOUT) != 0) return not_modelled("The body renames with RENAME_WHITEOUT", "Use rename().");
    if (from == kNoNode || (exchanges && into == kNoNode)) return from_outside(call_->path);
    const std::string name(last_name(call_->path));
    const Node node = tree_.at(from, name);
    if (node == kNoNode) return {};
    if (into == kNoNode) {
      const std::string text = "rename " + tree_.path_at(from, name) + " out of the directory";
      return done({.act = Act::entries, .node = node, .entries = {{from, name, kNoNode}}, .text = text});
    }
    const std::string other_name(last_name(call_->other_path));
    const Node other = tree_.at(into, other_name);
    // Two names of one file stay as they are.
    if (other == node) return {};
    const std::string text =
        (exchanges ? "exchange " : "rename ") + tree_.path_at(from, name) + " -> " + tree_.path_at(into, other_name);
    return done({.act = Act::entries,
                 .node = node,
                 .entries = {{from, name, exchanges ? other : kNoNode}, {into, other_name, node}},
                 .replaces = other != kNoNode && !exchanges && tree_.is_of_kind(other, Kind::file),
                 .text = text});
  }

  NamedTree tree_;
  std::vector<Operation> log_;
  std::map<Node, std::uint64_t> sizes_;
  std::map<Node, std::uint64_t> last_at_position_;  // when the last write at a file position ended
  const std::function<std::string(std::uint32_t)>& line_of_;
  const FileCall* call_ = nullptr;
};

}  // namespace

Result<Recording> make_recording(Snapshot before, std::span<const FileCall> calls,
                                 const std::function<std::string(std::uint32_t)>& line_of) {
  std::vector<const FileCall*> ended;
  for (const FileCall& call : calls) {
    if (call.has_returned && call.result >= 0) ended.push_back(&call);
    if (!call.has_returned && call.number != SYS_fsync && call.number != SYS_fdatasync) {
      return Failure{
          "A call had not come back when the body ended: another thread still changes files, or a signal "
          "handler left the call.",
          "Join the threads in the body."};
    }
  }
  std::sort(ended.begin(), ended.end(), [](const FileCall* a, const FileCall* b) { return a->ended < b->ended; });
  Journal journal(std::move(before), line_of);
  for (const FileCall* const call : ended) {
    if (Result<void> added = journal.add(*call); !added.ok()) return added.failure();
  }
  return journal.take();
}

namespace {

class Comparison {
 public:
  Comparison(const Image& made, const Image& found, std::span<const std::string> may_differ)
      : made_(made), found_(found), may_differ_(may_differ) {}

  /// The path that differs; empty = none.
  std::string difference(Node made, Node found, const std::string& path) {
    const auto [known, is_new] = pairs_.emplace(made, found);
    if (!is_new) return known->second == found ? std::string() : path;
    const Inode& a = made_.inodes[made];
    const Inode& b = found_.inodes[found];
    if (a.kind != b.kind) return path;
    if (a.kind != Kind::folder) return a.content() == b.content() || is_excused(path) ? std::string() : path;
    for (const auto& [name, node] : b.entries) {
      if (a.entries.count(name) == 0) return path + "/" + name;
    }
    for (const auto& [name, node] : a.entries) {
      const auto other = b.entries.find(name);
      if (other == b.entries.end()) return path + "/" + name;
      std::string differs = difference(node, other->second, path + "/" + name);
      if (!differs.empty()) return differs;
    }
    return {};
  }

  const std::map<Node, Node>& pairs() const { return pairs_; }

 private:
  bool is_excused(const std::string& path) const {
    const std::string name = path.substr(path.rfind('/') + 1);
    return std::any_of(may_differ_.begin(), may_differ_.end(),
                       [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  }

  const Image& made_;
  const Image& found_;
  std::span<const std::string> may_differ_;
  std::map<Node, Node> pairs_;
};

}  // namespace

Result<void> check_end(Recording& recording, const Image& after, std::span<const std::string> may_differ) {
  Settings settings;
  const Plan plan = make_plan(recording.initial, recording.log, settings);
  const Image all = image_of(recording.initial, recording.log, plan, Changes(plan.changes.size(), true));
  Comparison comparison(all, after, may_differ);
  const std::string differs = comparison.difference(kRoot, kRoot, "");
  if (!differs.empty()) {
    return Failure{"The recorded calls do not make what is in the directory now: " + differs.substr(1) +
                       " differs. A mapping (mmap), a child process, io_uring, or a thread that still runs or is older "
                       "than the backend has changed it unseen.",
                   "Let the body change files by calls of this process. Name files that are mapped, and that the check "
                   "does not need, in CrashOptions::may_be_mapped."};
  }
  for (const auto& [made, found] : comparison.pairs()) {
    recording.initial.inodes[made].mode = after.inodes[found].mode;
  }
  return {};
}

}  // namespace syscost::crash
