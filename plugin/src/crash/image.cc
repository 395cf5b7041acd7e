// SPDX-License-Identifier: MIT
#include "crash/image.h"

#include <algorithm>
#include <cstddef>
#include <utility>

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

}  // namespace syscost::crash
