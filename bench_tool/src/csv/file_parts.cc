// SPDX-License-Identifier: MIT
#include "csv/file_parts.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <system_error>

#include "syscost/schema.h"

namespace syscost::bench::csv {
namespace {

// Below this a thread costs more than it saves.
constexpr std::uint64_t kSmallestPart = std::uint64_t{16} << 20;
constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

/// The first offset from `offset` on at which a line begins; `end` if none begins before `end`.
std::uint64_t next_line_begin(const Input& input, std::uint64_t offset, std::uint64_t end) {
  std::vector<char> buffer(kBufferBytes);
  const ReadBytes bytes = input.bytes_of(offset, end - offset);
  try {
    while (const std::size_t got = offset < end ? bytes(buffer.data(), buffer.size()) : 0) {
      if (const void* feed = std::memchr(buffer.data(), '\n', got); feed != nullptr) {
        return offset + static_cast<std::uint64_t>(static_cast<const char*>(feed) - buffer.data()) + 1;
      }
      offset += got;
    }
  } catch (const std::system_error&) {
    // The part that begins here cannot be read either, and says so.
  }
  return end;
}

}  // namespace

std::vector<FilePart> split_file(Input& input, unsigned most) {
  std::vector<FilePart> whole(1);
  if (!input.is_regular()) return whole;
  const std::uint64_t size = input.size();
  const std::uint64_t count = std::min<std::uint64_t>(most, size / kSmallestPart);
  // A file without our header is no CSV of ours. Read as one part, it is refused at its first line.
  if (count < 2 || !input.beginning().starts_with(schema::kColumnNames.front())) return whole;

  std::vector<FilePart> parts;
  std::uint64_t offset = 0;
  for (std::uint64_t i = 1; i <= count && offset < size; ++i) {
    const std::uint64_t end = i == count ? size : std::max(offset, next_line_begin(input, size / count * i, size));
    if (end != offset) parts.push_back({offset, end - offset});
    offset = end;
  }
  // A file may grow while it is read: what was appended belongs to the last part.
  parts.back().size = 0;
  return parts;
}

ReadEnd read_csv_part(Input& input, const FilePart& part, const RowHandler& handle, Problems& problems) {
  ReadBytes bytes = input.is_regular() ? input.bytes_of(part.offset, part.size) : input.bytes();
  return read_csv(input.path(), std::move(bytes), handle, problems, part.offset == 0 ? Begin::header : Begin::row);
}

}  // namespace syscost::bench::csv
