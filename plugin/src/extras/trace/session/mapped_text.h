// SPDX-License-Identifier: MIT
//
// MappedText: text of several MiB that is built between windows. Its memory is mapped, because a large block from
// malloc would change how malloc serves the next test.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace syscost::session {

class MappedText {
 public:
  MappedText() = default;
  ~MappedText() {
    if (start_ != nullptr) munmap(start_, room_);
  }
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;

  void append(std::string_view text) {
    if (text.empty()) return;
    if ((start_ == nullptr || size_ + text.size() > room_) && !grow(size_ + text.size())) {
      is_whole_ = false;
      return;
    }
    std::memcpy(start_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  std::string_view view() const { return {start_, size_}; }
  /// False if there was no memory for a part.
  bool is_whole() const { return is_whole_; }

 private:
  bool grow(std::size_t least) {
    constexpr std::size_t kFirst = std::size_t{1} << 20;
    const std::size_t room = std::max({least, 2 * room_, kFirst});
    void* fresh = start_ == nullptr ? mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                    : mremap(start_, room_, room, MREMAP_MAYMOVE);
    if (fresh == MAP_FAILED) return false;
    start_ = static_cast<char*>(fresh);
    room_ = room;
    return true;
  }

  char* start_ = nullptr;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
  bool is_whole_ = true;
};

}  // namespace syscost::session
