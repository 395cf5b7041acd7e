// SPDX-License-Identifier: MIT
#include "csv/guarded_source.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "syscost/schema.h"

namespace syscost::bench::csv {
namespace {

/// What a row ends with. A quote may hold it as well: what is marked is no row, what is not marked may still be none.
const std::string kRowEnd = std::string(",") + std::string(schema::kEndMark);

}  // namespace

void LineDamage::note(std::uint64_t line, Damage damage) {
  std::lock_guard guard(mutex_);
  if (damage == Damage::endless) by_line_[line] = damage;
  by_line_.emplace(line, damage);
  any_.store(true, std::memory_order_release);
}

Damage LineDamage::at(std::uint64_t line) const {
  if (!any_.load(std::memory_order_acquire)) return Damage::none;
  std::lock_guard guard(mutex_);
  auto found = by_line_.find(line);
  return found == by_line_.end() ? Damage::none : found->second;
}

int GuardedSource::read(char* buffer, int size) {
  const auto wanted = static_cast<std::size_t>(size);
  std::size_t filled = 0;
  while (filled < wanted && !is_at_end_) {
    std::size_t got = read_bytes_(buffer + filled, wanted - filled);
    if (got == 0) {
      is_at_end_ = true;
    } else {
      filled += clean(buffer + filled, got);
      is_at_end_ = line_bytes_ > kEndlessLineBytes;
    }
  }
  if (is_at_end_ && !is_closed_ && filled < wanted) {
    is_closed_ = true;
    if (line_bytes_ != 0) {
      damage_->note(line_, line_bytes_ > kEndlessLineBytes ? Damage::endless : Damage::not_closed);
      buffer[filled++] = '\n';
    }
  }
  return static_cast<int>(filled);
}

std::size_t GuardedSource::clean(char* bytes, std::size_t size) {
  const bool has_nul = std::memchr(bytes, '\0', size) != nullptr;
  const char* in = bytes;
  const char* const end = bytes + size;
  char* out = bytes;
  while (in != end) {
    const auto* feed = static_cast<const char*>(std::memchr(in, '\n', static_cast<std::size_t>(end - in)));
    const char* stop = feed == nullptr ? end : feed;
    auto length = static_cast<std::size_t>(stop - in);
    // A NUL would end the line for the library; any other character keeps the columns countable.
    if (has_nul && length != 0 && std::memchr(in, '\0', length) != nullptr) {
      damage_->note(line_, Damage::has_nul);
      for (std::size_t i = 0; i < length; ++i) {
        if (in[i] == '\0') bytes[static_cast<std::size_t>(in - bytes) + i] = '?';
      }
    }
    std::size_t kept = std::min(length, kMaxLineBytes - std::min(line_bytes_, kMaxLineBytes));
    if (kept != length) damage_->note(line_, Damage::too_long);
    if (out != in) std::memmove(out, in, kept);
    // What of the line was handed out before cannot be marked any more; the library throws for it.
    if (feed != nullptr && line_bytes_ == 0) mark_unless_row(out, out + kept);
    out += kept;
    line_bytes_ += length;
    in = stop;
    if (feed != nullptr) {
      *out++ = '\n';
      ++in;
      ++line_;
      line_bytes_ = 0;
    }
  }
  return static_cast<std::size_t>(out - bytes);
}

void GuardedSource::mark_unless_row(char* begin, const char* end) const {
  if (line_ < kFirstMarkedLine || begin == end) return;
  std::string_view line(begin, static_cast<std::size_t>(end - begin));
  if (line.back() == '\r') line.remove_suffix(1);
  if (!line.ends_with(kRowEnd)) *begin = kNoRowMark;
}

}  // namespace syscost::bench::csv
