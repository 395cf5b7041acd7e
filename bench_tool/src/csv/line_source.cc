// SPDX-License-Identifier: MIT
#include "csv/line_source.h"

#include <algorithm>
#include <cstring>

namespace syscost::bench::csv {
namespace {

// Fits the second-level cache of a core, because several passes read the bytes.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool LineSource::next(Line& line) {
  for (;;) {
    const char* const data = buffer_.data();
    const auto* feed =
        searched_ == end_ ? nullptr : static_cast<const char*>(std::memchr(data + searched_, '\n', end_ - searched_));
    if (feed != nullptr) {
      hand_out(line, data + begin_, feed);
      searched_ = begin_ = static_cast<std::size_t>(feed - data) + 1;
      return true;
    }
    searched_ = end_;
    if (end_ - begin_ > kMaxLineBytes) {
      drop_rest(line);
      return true;
    }
    if (fill()) continue;
    if (begin_ == end_) return false;
    hand_out(line, buffer_.data() + begin_, buffer_.data() + end_);
    begin_ = end_;
    return true;
  }
}

void LineSource::hand_out(Line& line, const char* begin, const char* end) {
  ++lines_;
  line.number = lines_;
  line.damage = Damage::none;
  const auto size = static_cast<std::size_t>(end - begin);
  if (has_nul_ && std::memchr(begin, '\0', size) != nullptr) line.damage = Damage::has_nul;
  if (size > kMaxLineBytes) line.damage = Damage::too_long;
  line.text = std::string_view(begin, size);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  if (lines_ == 1 && line.text.starts_with(kByteOrderMark)) line.text.remove_prefix(kByteOrderMark.size());
}

void LineSource::drop_rest(Line& line) {
  std::size_t size = 0;
  for (;;) {
    const auto* feed = static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
    if (feed != nullptr) {
      searched_ = begin_ = static_cast<std::size_t>(feed - buffer_.data()) + 1;
      break;
    }
    size += end_ - begin_;
    searched_ = begin_ = end_;
    is_at_end_ = is_at_end_ || size > kEndlessLineBytes;
    if (!fill()) break;
  }
  line = {{}, ++lines_, size > kEndlessLineBytes ? Damage::endless : Damage::too_long};
}

bool LineSource::fill() {
  if (is_at_end_) return false;
  if (begin_ != 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  if (end_ + kBlockBytes / 2 + kReadableAfterLine > buffer_.size())
    buffer_.resize(end_ + kBlockBytes + kReadableAfterLine);
  const std::size_t got = read_bytes_(buffer_.data() + end_, buffer_.size() - kReadableAfterLine - end_);
  is_at_end_ = got == 0;
  end_ += got;
  has_nul_ = std::memchr(buffer_.data(), '\0', end_) != nullptr;
  return got != 0;
}

}  // namespace syscost::bench::csv
