// SPDX-License-Identifier: MIT
#include "csv/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "csv/inflate.h"

namespace syscost::bench::csv {
namespace {

constexpr std::size_t kBeginningBytes = 256;

/// Calls `call` again while a signal interrupts it; throws when it fails.
template <class Call>
std::size_t read_by(Call call) {
  for (;;) {
    const ssize_t got = call();
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw std::system_error(errno, std::generic_category());
  }
}

}  // namespace

Input::Input(Input&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_regular_(other.is_regular_),
      size_(other.size_),
      stream_(std::move(other.stream_)),
      beginning_(std::move(other.beginning_)),
      has_beginning_(other.has_beginning_),
      has_ended_(other.has_ended_) {}

bool Input::open(Problems& problems) {
  if (descriptor_ >= 0) return true;
  do {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor_ < 0 && errno == EINTR);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    problems.add(path_, 0, fmt::format("cannot be opened: {}", std::generic_category().message(errno)));
    close();
    return false;
  }
  std::array<char, 2> first{};
  const bool is_file = S_ISREG(status.st_mode);
  const ssize_t got = is_file ? ::pread(descriptor_, first.data(), first.size(), 0) : 0;
  is_regular_ = is_file && !is_gzip({first.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  size_ = is_regular_ ? static_cast<std::uint64_t>(status.st_size) : 0;
  return true;
}

void Input::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  stream_ = nullptr;
  beginning_.clear();
  has_beginning_ = false;
  has_ended_ = false;
}

/// Fills stream_. The first bytes of a pipe were read before, so they come first again.
void Input::open_stream() {
  const ReadBytes rest = [descriptor = descriptor_](char* buffer, std::size_t size) {
    return read_by([&] { return ::read(descriptor, buffer, size); });
  };
  stream_ = rest;  // if that fails now, it fails again for the reader
  std::string first(2, '\0');
  std::size_t filled = 0;
  for (std::size_t got = 1; got != 0 && filled != first.size(); filled += got) {
    got = rest(first.data() + filled, first.size() - filled);
    has_ended_ = got == 0;
  }
  first.resize(filled);
  const bool is_packed = is_gzip(first);
  // On a terminal the user would have to type the end a second time.
  ReadBytes all = [rest, first, has_ended = has_ended_](char* buffer, std::size_t size) mutable {
    if (first.empty()) return has_ended ? std::size_t{0} : rest(buffer, size);
    const std::size_t count = std::min(size, first.size());
    first.copy(buffer, count);
    first.erase(0, count);
    return count;
  };
  stream_ = is_packed ? inflated(std::move(all)) : std::move(all);
}

std::string_view Input::beginning() {
  if (has_beginning_) return beginning_;
  has_beginning_ = true;
  beginning_.resize(kBeginningBytes);
  std::size_t filled = 0;
  try {
    if (!is_regular_) open_stream();
    const ReadBytes part = is_regular_ ? bytes_of(0, kBeginningBytes) : nullptr;
    const ReadBytes& all = is_regular_ ? part : stream_;
    for (std::size_t got = 1; got != 0 && filled != kBeginningBytes; filled += got) {
      got = all(beginning_.data() + filled, kBeginningBytes - filled);
      has_ended_ = got == 0;
    }
  } catch (const std::system_error&) {
    // The reader meets the same error, and its caller says so.
  }
  beginning_.resize(filled);
  return beginning_;
}

ReadBytes Input::bytes() {
  if (is_regular_) return bytes_of(0, 0);
  beginning();
  return [this, left = std::string_view(beginning_)](char* buffer, std::size_t size) mutable {
    if (left.empty() && has_ended_) return std::size_t{0};
    if (left.empty()) return stream_(buffer, size);
    const std::size_t count = std::min(size, left.size());
    std::memcpy(buffer, left.data(), count);
    left.remove_prefix(count);
    return count;
  };
}

ReadBytes Input::bytes_of(std::uint64_t offset, std::uint64_t size) const {
  return [this, offset, is_limited = size != 0, left = size](char* buffer, std::size_t wanted) mutable {
    if (is_limited) wanted = std::min<std::uint64_t>(wanted, left);
    const std::size_t got = read_by([&] { return ::pread(descriptor_, buffer, wanted, static_cast<off_t>(offset)); });
    offset += got;
    left -= is_limited ? got : 0;
    return got;
  };
}

std::optional<std::string> read_whole(Input& input, Problems& problems, std::size_t most) {
  constexpr std::size_t kReadBytes = std::size_t{1} << 18;
  std::string text;
  const ReadBytes bytes = input.bytes();
  try {
    for (std::size_t filled = 0;;) {
      text.resize(filled + kReadBytes);
      const std::size_t got = bytes(text.data() + filled, kReadBytes);
      text.resize(filled += got);
      if (got == 0) return text;
      if (filled <= most) continue;
      const bool has_mib = most >= std::size_t{1} << 20;
      problems.add(input.path(), 0,
                   fmt::format("longer than {} {}: not read", most >> (has_mib ? 20U : 10U), has_mib ? "MiB" : "KiB"));
      return std::nullopt;
    }
  } catch (const std::system_error& error) {
    problems.add(input.path(), 0, fmt::format("cannot be read: {}", error.code().message()));
    return std::nullopt;
  }
}

std::optional<std::string> read_text(const std::string& path, Problems& problems, std::size_t most) {
  Input input(path);
  return input.open(problems) ? read_whole(input, problems, most) : std::nullopt;
}

bool is_own_file_there(const std::string& name, Problems& problems) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(name, ignored);
  if (!std::filesystem::exists(status)) return false;
  if (std::filesystem::is_regular_file(status)) return true;
  problems.add(name, 0, "is no regular file, so it is not read");
  return false;
}

}  // namespace syscost::bench::csv
