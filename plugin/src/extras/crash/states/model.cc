// SPDX-License-Identifier: MIT
#include "extras/crash/states/model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace syscost::crash {
namespace {

using Index = std::uint32_t;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

/// Makes the changes of a log, and what each of them needs.
class Changing {
 public:
  Changing(const Image& initial, std::span<const Operation> log, const Settings& settings, std::vector<Change>& changes)
      : initial_(initial), log_(log), settings_(settings), changes_(changes) {}

  void make_changes() {
    for (Index i = 0; i < log_.size(); ++i) {
      switch (log_[i].act) {
        case Act::entries:
          change_entries(i);
          break;
        case Act::write:
          write(i);
          break;
        case Act::resize:
          resize(i);
          break;
        default:
          break;
      }
    }
  }

 private:
  bool is_ordered() const { return settings_.model == CrashModel::ordered; }

  /// Adds a change that needs `after`.
  Index add(Change change, const std::set<std::optional<Index>>& after) {
    for (const std::optional<Index> one : after) {
      if (one.has_value()) change.after.push_back(*one);
    }
    changes_.push_back(std::move(change));
    return static_cast<Index>(changes_.size() - 1);
  }

  /// The journal of `ordered` has metadata in one order.
  Index add_metadata(Change change, std::set<std::optional<Index>> after) {
    if (is_ordered()) after.insert(last_metadata_);
    last_metadata_ = add(std::move(change), after);
    return *last_metadata_;
  }

  void change_entries(Index i) {
    const Operation& operation = log_[i];
    std::set<std::optional<Index>> after;
    for (const EntryChange& entry : operation.entries) after.insert(last(entries_, {entry.folder, entry.name}));
    // ext4 begins to write the data of a file out before the file takes the place of another one (auto_da_alloc). It
    // waits for the sizes, and not for the data.
    if (is_ordered() && operation.replaces) after.insert(last(sizes_, operation.node));
    const Index change = add_metadata({i, Part::entries, kNoNode, 0, 0}, std::move(after));
    for (const EntryChange& entry : operation.entries) entries_[{entry.folder, entry.name}] = change;
    made_.emplace(operation.node, change);
  }

  void write(Index i) {
    const Operation& operation = log_[i];
    const std::uint64_t end = operation.offset + operation.data->size();
    std::uint64_t& size = size_of(operation.node);
    std::uint64_t at = operation.offset;
    for (const std::uint64_t next : piece_ends(at, end)) {
      const std::uint64_t block = at / settings_.block_bytes;
      add_data(i, block, at, next - at);
      at = next;
    }
    // A file grows block by block: the size may end with any block that the write fills.
    const std::uint64_t first = round_up(std::max(size, operation.offset) + 1, settings_.block_bytes);
    for (std::uint64_t to = first; size < end; to += settings_.block_bytes) {
      size = std::min(to, end);
      std::set<std::optional<Index>> after = {last(sizes_, operation.node)};
      if (is_ordered()) after.insert(last(made_, operation.node));
      sizes_[operation.node] = add({i, Part::size, operation.node, 0, size}, after);
    }
  }

  /// Bytes of one block. They need what was written to it before.
  Index add_data(Index i, std::uint64_t block, std::uint64_t at, std::uint64_t bytes) {
    const Node node = log_[i].node;
    BlockWrite& last_write = blocks_[{node, block}];
    if (last_write.operation != i) last_write = {i, {}, std::move(last_write.pieces)};
    std::set<std::optional<Index>> after = {last(cuts_, node)};
    after.insert(last_write.before.begin(), last_write.before.end());
    const Index data = add({i, Part::data, node, at, bytes}, after);
    last_write.pieces.push_back(data);
    return data;
  }

  /// A write goes to the disk block by block, and its last block in two pieces if it has more than one sector.
  std::vector<std::uint64_t> piece_ends(std::uint64_t at, std::uint64_t end) const {
    std::vector<std::uint64_t> ends;
    const std::uint64_t block = settings_.block_bytes;
    for (; at / block != (end - 1) / block; at = ends.back()) ends.push_back((at / block + 1) * block);
    const std::uint64_t middle = round_up(at + (end - at) / 2, settings_.sector_bytes);
    if (at < middle && middle < end) ends.push_back(middle);
    ends.push_back(end);
    return ends;
  }

  void resize(Index i) {
    const Operation& operation = log_[i];
    std::uint64_t& size = size_of(operation.node);
    // A file of ext4 can have a new size by ftruncate() without what was written to it before.
    std::set<std::optional<Index>> after;
    if (!is_ordered()) after.insert(last(sizes_, operation.node));
    // Beyond the new end, the rest of its block becomes zero first, and the file is as long as before.
    const std::uint64_t block_end = std::min(round_up(operation.size, settings_.block_bytes), size);
    if (operation.size < block_end) {
      after.insert(add_data(i, operation.size / settings_.block_bytes, operation.size, block_end - operation.size));
    }
    const Index change = add_metadata({i, Part::size, operation.node, 0, operation.size}, std::move(after));
    if (operation.size < size) cuts_[operation.node] = change;
    size = operation.size;
    sizes_[operation.node] = change;
  }

  std::uint64_t& size_of(Node node) {
    return full_size_.try_emplace(node, initial_.inodes[node].content().size()).first->second;
  }

  template <class Map>
  static std::optional<Index> last(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found != map.end() ? std::optional(found->second) : std::nullopt;
  }

  /// The last operation that wrote to a block, its pieces there, and those of the operation before it.
  struct BlockWrite {
    Index operation = ~Index{0};
    std::vector<Index> pieces = {};
    std::vector<Index> before = {};
  };

  const Image& initial_;
  std::span<const Operation> log_;
  const Settings& settings_;
  std::vector<Change>& changes_;
  std::map<std::pair<Node, std::string>, Index> entries_;  // the last change of a name
  std::map<std::pair<Node, std::uint64_t>, BlockWrite> blocks_;
  std::map<Node, Index> sizes_;              // of a size
  std::map<Node, Index> cuts_;               // the last resize to less
  std::map<Node, Index> made_;               // the first entry
  std::map<Node, std::uint64_t> full_size_;  // with all changes
  std::optional<Index> last_metadata_;
};

/// True if the change is one of the journal's, in the order of the log.
bool is_metadata(const Change& change, std::span<const Operation> log) {
  return change.part == Part::entries || log[change.operation].act == Act::resize;
}

bool is_about(const Operation& operation, Node node) {
  return operation.node == node || std::any_of(operation.entries.begin(), operation.entries.end(),
                                               [&](const EntryChange& one) { return one.node == node; });
}

/// True if `later` waits for what `earlier` did: it began after its end.
bool follows(std::span<const Operation> log, std::size_t later, std::size_t earlier) {
  if (log[later].ended == 0) return earlier < later;  // by hand
  return log[earlier].ended < log[later].begun;
}

class Staging {
 public:
  Staging(std::span<const Operation> log, const Settings& settings, Plan& plan)
      : log_(log), settings_(settings), plan_(plan), sure_(plan.changes.size()) {}

  void make_stages() {
    for (std::size_t i = 0; i < log_.size(); ++i) {
      const Operation& operation = log_[i];
      const bool is_write = operation.act == Act::write || operation.act == Act::resize;
      const bool is_barrier = !is_write && operation.act != Act::entries;
      if (!is_barrier && !operation.is_synced) continue;
      add_stage(i);
      if (operation.act == Act::mark) {
        ++marks_;
      } else {
        make_sure(i);
      }
    }
    add_stage(log_.size());
    // The states are the same before the body's end and after it.
    plan_.stages.back().is_finished = true;
  }

 private:
  /// Just before operation `at` returns.
  void add_stage(std::size_t at) {
    Changes possible(plan_.changes.size());
    for (std::size_t i = 0; i < possible.size(); ++i) {
      const Change& change = plan_.changes[i];
      const bool is_begun = change.operation <= at ||
                            (at < log_.size() && log_[at].ended != 0 && log_[change.operation].begun < log_[at].ended);
      possible[i] = is_begun && std::all_of(change.after.begin(), change.after.end(),
                                            [&](std::uint32_t needed) { return possible[needed]; });
    }
    plan_.stages.push_back({at, std::move(possible), sure_, marks_, false});
  }

  void require(std::uint32_t change) {
    std::vector<std::uint32_t> required = {change};
    while (!required.empty()) {
      const std::uint32_t one = required.back();
      required.pop_back();
      if (sure_[one]) continue;
      sure_[one] = true;
      required.insert(required.end(), plan_.changes[one].after.begin(), plan_.changes[one].after.end());
    }
  }

  bool is_of_folder(const Change& change, Node folder) const {
    const Operation& operation = log_[change.operation];
    const bool is_ordered = settings_.model == CrashModel::ordered;
    return change.part == Part::entries && ((is_ordered && operation.node == folder) ||
                                            std::any_of(operation.entries.begin(), operation.entries.end(),
                                                        [&](const EntryChange& one) { return one.folder == folder; }));
  }

  bool is_made_sure_by(const Change& change, std::size_t barrier) const {
    const Operation& by = log_[barrier];
    const bool is_ordered = settings_.model == CrashModel::ordered;
    if (change.operation == barrier) return true;
    if (!follows(log_, barrier, change.operation)) return false;
    if (by.act == Act::sync_everything) return true;
    if (by.act == Act::sync_folder) return is_of_folder(change, by.node);
    if (is_ordered && is_metadata(change, log_) && is_about(log_[change.operation], by.node)) return true;
    return by.act == Act::sync_file && change.part != Part::entries && change.node == by.node;
  }

  void make_sure(std::size_t barrier) {
    for (std::uint32_t i = 0; i < plan_.changes.size(); ++i) {
      if (!sure_[i] && is_made_sure_by(plan_.changes[i], barrier)) require(i);
    }
  }

  std::span<const Operation> log_;
  const Settings& settings_;
  Plan& plan_;
  Changes sure_;
  std::size_t marks_ = 0;
};

/// The files that are not as they were.
class Contents {
 public:
  explicit Contents(Image& image) : image_(image) {}

  void write(const Change& change, const Operation& operation) {
    Content& content = of(change.node);
    const std::size_t end = change.offset + change.length;
    if (content.bytes.size() < end) content.bytes.resize(end);
    if (operation.data == nullptr) {  // of a resize
      content.bytes.replace(change.offset, change.length, change.length, '\0');
    } else {
      content.bytes.replace(change.offset, change.length, *operation.data, change.offset - operation.offset,
                            change.length);
    }
  }
  void set_size(const Change& change, const Operation& operation) {
    Content& content = of(change.node);
    content.size = change.length;
    // A write only lets the file grow; its data may lie beyond this size.
    const bool cuts = operation.act == Act::resize && content.bytes.size() > change.length;
    if (cuts) content.bytes.resize(change.length);
  }
  void finish() {
    for (auto& [node, content] : contents_) {
      content.bytes.resize(content.size);
      image_.inodes[node].data = std::make_shared<const std::string>(std::move(content.bytes));
    }
  }

 private:
  struct Content {
    std::string bytes;
    std::uint64_t size;  // what lies beyond is not seen
  };
  Content& of(Node node) {
    const auto found = contents_.find(node);
    if (found != contents_.end()) return found->second;
    const std::string_view before = image_.inodes[node].content();
    return contents_.emplace(node, Content{std::string(before), before.size()}).first->second;
  }

  Image& image_;
  std::map<Node, Content> contents_;
};

}  // namespace

Plan make_plan(const Image& initial, std::span<const Operation> log, const Settings& settings) {
  Plan plan;
  Changing(initial, log, settings, plan.changes).make_changes();
  Staging(log, settings, plan).make_stages();
  return plan;
}

Image image_of(const Image& initial, std::span<const Operation> log, const Plan& plan, const Changes& persisted) {
  Image image = initial;
  Contents contents(image);
  for (std::size_t i = 0; i < plan.changes.size(); ++i) {
    if (!persisted[i]) continue;
    const Change& change = plan.changes[i];
    const Operation& operation = log[change.operation];
    switch (change.part) {
      case Part::data:
        contents.write(change, operation);
        break;
      case Part::size:
        contents.set_size(change, operation);
        break;
      case Part::entries:
        for (const EntryChange& entry : operation.entries) {
          auto& entries = image.inodes[entry.folder].entries;
          if (entry.node == kNoNode) {
            entries.erase(entry.name);
          } else {
            entries[entry.name] = entry.node;
          }
        }
        break;
    }
  }
  contents.finish();
  return image;
}

}  // namespace syscost::crash
