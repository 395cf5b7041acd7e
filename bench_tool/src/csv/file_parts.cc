// SPDX-License-Identifier: MIT
#include "csv/file_parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "syscost/schema.h"

namespace syscost::bench::csv {
namespace {

// Below this a thread costs more than it saves.
constexpr std::uint64_t kSmallestPart = std::uint64_t{16} << 20;
constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
// Rows are rarely shorter; should they be, memory for them is found a second time.
constexpr std::uint64_t kShortRow = 256;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

/// First offset at or behind `offset` at which a line begins; `end` when there is none before it.
std::uint64_t next_line_begin(int descriptor, std::uint64_t offset, std::uint64_t end) {
  std::vector<char> buffer(kBufferBytes);
  while (offset < end) {
    const ssize_t got = ::pread(descriptor, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (got <= 0) return end;
    const void* feed = std::memchr(buffer.data(), '\n', static_cast<std::size_t>(got));
    if (feed != nullptr) return offset + static_cast<std::uint64_t>(static_cast<const char*>(feed) - buffer.data()) + 1;
    offset += static_cast<std::uint64_t>(got);
  }
  return end;
}

/// True when the file begins as a syscost CSV does. Any other is read as one part, whose header says at once that the
/// rest means nothing.
bool begins_as_ours(int descriptor) {
  constexpr std::string_view kBegin = schema::kColumnNames.front();
  std::array<char, kBegin.size()> begin{};
  return ::pread(descriptor, begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         std::string_view(begin.data(), begin.size()) == kBegin;
}

}  // namespace

std::vector<FilePart> split_file(const std::string& path, unsigned most) {
  std::vector<FilePart> whole(1);
  const Descriptor file(path);
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return whole;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t count = std::min<std::uint64_t>(most, size / kSmallestPart);
  if (count < 2 || !begins_as_ours(file.number())) return whole;

  std::vector<FilePart> parts;
  std::uint64_t offset = 0;
  for (std::uint64_t i = 1; i <= count && offset < size; ++i) {
    const std::uint64_t end =
        i == count ? size : std::max(offset, next_line_begin(file.number(), size / count * i, size));
    if (end != offset) parts.push_back({offset, end - offset, (end - offset) / kShortRow});
    offset = end;
  }
  // A file may grow while it is read: what was appended belongs to the last part.
  parts.back().size = 0;
  return parts;
}

ReadEnd read_csv_part(const std::string& path, const FilePart& part, const RowHandler& handle, Problems& problems) {
  const Descriptor file(path);
  if (file.number() < 0) {
    problems.add(path, 0, fmt::format("cannot be opened: {}", std::generic_category().message(errno)));
    return {};
  }
  if (part.offset != 0 && ::lseek(file.number(), static_cast<off_t>(part.offset), SEEK_SET) < 0) {
    problems.add(path, 0, fmt::format("cannot be read: {}", std::generic_category().message(errno)));
    return {};
  }
  auto read_bytes = [&file, limited = part.size != 0, left = part.size](char* buffer, std::size_t size) mutable {
    if (limited) size = std::min<std::uint64_t>(size, left);
    for (;;) {
      const ssize_t got = ::read(file.number(), buffer, size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw std::system_error(errno, std::generic_category());
      left -= limited ? static_cast<std::uint64_t>(got) : 0;
      return static_cast<std::size_t>(got);
    }
  };
  return read_csv(path, read_bytes, handle, problems, part.offset == 0);
}

}  // namespace syscost::bench::csv
