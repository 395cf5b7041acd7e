// SPDX-License-Identifier: MIT
#include "csv/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

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
  is_regular_ = S_ISREG(status.st_mode);
  size_ = is_regular_ ? static_cast<std::uint64_t>(status.st_size) : 0;
  return true;
}

void Input::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  beginning_.clear();
  has_beginning_ = false;
  has_ended_ = false;
}

std::string_view Input::beginning() {
  if (has_beginning_) return beginning_;
  has_beginning_ = true;
  beginning_.resize(kBeginningBytes);
  std::size_t filled = 0;
  try {
    const ReadBytes all =
        is_regular_ ? bytes_of(0, kBeginningBytes) : ReadBytes([this](char* buffer, std::size_t size) {
          return read_by([&] { return ::read(descriptor_, buffer, size); });
        });
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
  return [this, left = std::string_view(beginning_)](char* buffer, std::size_t size) mutable {
    // A terminal would have to be told its end a second time.
    if (left.empty() && has_ended_) return std::size_t{0};
    if (left.empty()) return read_by([&] { return ::read(descriptor_, buffer, size); });
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

}  // namespace syscost::bench::csv
