// SPDX-License-Identifier: MIT
//
// Logs of operations made by hand, and the states of each in one line of text.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/crash/states/image.h"
#include "extras/crash/states/model.h"
#include "extras/crash/states/states.h"

namespace syscost::crash {

/// Makes the operations of one thread on a directory.
class LogByHand {
 public:
  /// A file that is there, and on the disk, from the beginning.
  Node has(const std::string& name, std::string_view content, Node folder = kRoot) {
    const Node node = add_inode(image, {Kind::file, 0644, std::make_shared<const std::string>(content), {}});
    image.inodes[folder].entries[name] = node;
    return node;
  }
  Node has_folder(const std::string& name) {
    const Node node = add_inode(image, {Kind::folder, 0755, nullptr, {}});
    image.inodes[kRoot].entries[name] = node;
    return node;
  }

  Node create(const std::string& name, Node folder = kRoot) {
    const Node node = add_inode(image, {});
    log.push_back({Act::entries, node, {{folder, name, node}}, false, 0, nullptr, 0, false, 0, 0, "create " + name});
    return node;
  }
  Node make_folder(const std::string& name) {
    const Node node = add_inode(image, {Kind::folder, 0755, nullptr, {}});
    log.push_back({Act::entries, node, {{kRoot, name, node}}, false, 0, nullptr, 0, false, 0, 0, "mkdir " + name});
    return node;
  }
  void write(Node node, std::string_view data, std::uint64_t offset = 0, bool is_synced = false) {
    log.push_back({Act::write,
                   node,
                   {},
                   false,
                   offset,
                   std::make_shared<const std::string>(data),
                   0,
                   is_synced,
                   0,
                   0,
                   "write " + std::to_string(data.size()) + " bytes at " + std::to_string(offset)});
  }
  void resize(Node node, std::uint64_t size) {
    log.push_back({Act::resize, node, {}, false, 0, nullptr, size, false, 0, 0, "resize"});
  }
  void rename(Node node, const std::string& from, const std::string& to, bool replaces) {
    log.push_back({Act::entries,
                   node,
                   {{kRoot, from, kNoNode}, {kRoot, to, node}},
                   replaces,
                   0,
                   nullptr,
                   0,
                   false,
                   0,
                   0,
                   "rename " + from + " -> " + to});
  }
  void link(Node node, const std::string& name) {
    log.push_back({Act::entries, node, {{kRoot, name, node}}, false, 0, nullptr, 0, false, 0, 0, "link " + name});
  }
  void unlink(Node node, const std::string& name) {
    log.push_back({Act::entries, node, {{kRoot, name, kNoNode}}, false, 0, nullptr, 0, false, 0, 0, "unlink " + name});
  }
  void sync(Node node) { log.push_back({.act = Act::sync_file, .node = node, .text = "fsync"}); }
  void sync_folder(Node node = kRoot) {
    log.push_back({.act = Act::sync_folder, .node = node, .text = "fsync directory"});
  }
  void sync_everything() { log.push_back({.act = Act::sync_everything, .text = "sync"}); }
  void mark(const std::string& name) { log.push_back({.act = Act::mark, .text = name}); }

  Plan plan() const { return make_plan(image, log, settings); }
  States states(std::size_t most = 1000) const { return make_states(image, log, plan(), most, 1); }
  Image image_at(const State& state) const { return image_of(image, log, plan(), state.persisted); }

  /// Such as `a=hello b=`: each name below the directory, and its content. With the marks that were made: `a= [saved]`.
  std::string text_at(const State& state) const {
    const Image at = image_at(state);
    std::string text;
    add_text(at, kRoot, "", text);
    const Stage stage = plan().stages[state.stage];
    std::size_t marks = stage.marks;
    for (const Operation& operation : log) {
      if (operation.act == Act::mark && marks-- > 0) text += (text.empty() ? "[" : " [") + operation.text + "]";
      if (marks == 0) break;
    }
    return text;
  }
  std::set<std::string> texts(std::size_t most = 1000) const {
    std::set<std::string> all;
    for (const State& state : states(most).states) all.insert(text_at(state));
    return all;
  }

  Image image;
  std::vector<Operation> log;
  Settings settings;

 private:
  static void add_text(const Image& image, Node folder, const std::string& before, std::string& text) {
    for (const auto& [name, node] : image.inodes[folder].entries) {
      const Inode& inode = image.inodes[node];
      if (!text.empty()) text += ' ';
      text += before + name + (inode.kind == Kind::folder ? "/" : "=");
      for (const char letter : inode.content()) text += letter != '\0' ? letter : '0';
      if (inode.kind == Kind::folder) add_text(image, node, before + name + "/", text);
    }
  }
};

using Texts = std::set<std::string>;

}  // namespace syscost::crash
