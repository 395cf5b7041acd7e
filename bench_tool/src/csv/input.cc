// SPDX-License-Identifier: MIT
#include "csv/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "csv/text.h"

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

namespace {

constexpr std::size_t kPackedBlockBytes = std::size_t{64} << 10;

enum class Fault { none, cut_short, damaged, unpacks_to_too_much, followed_by_others };

class FaultTexts : public std::error_category {
 public:
  const char* name() const noexcept override { return "gzip"; }
  std::string message(int fault) const override {
    switch (static_cast<Fault>(fault)) {
      case Fault::cut_short:
        return "its gzip data stop before their end; copy or pack it again";
      case Fault::damaged:
        return "its gzip data are damaged; copy or pack it again";
      case Fault::unpacks_to_too_much:
        return fmt::format(
            "it unpacks to more than {} times its size: not written by syscost; what follows is not read",
            kMostTimesPacked);
      case Fault::followed_by_others:
        return "something that is no gzip data follows its gzip data; what follows is not read";
      case Fault::none:
        break;
    }
    return "no fault";
  }
};

/// The state of one reading. A fault is thrown again each time.
class Inflater {
 public:
  explicit Inflater(ReadBytes packed) : packed_(std::move(packed)), block_(kPackedBlockBytes) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t read(char* buffer, std::size_t size) {
    for (;;) {
      if (fault_ != Fault::none) {
        static const FaultTexts texts;
        throw std::system_error(static_cast<int>(fault_), texts);
      }
      if (is_at_end_) return 0;
      if (stream_.avail_in == 0 && !refill()) continue;
      if (is_between_members_ && !begin_member()) continue;
      stream_.next_out = reinterpret_cast<Bytef*>(buffer);
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30U));
      const uInt room = stream_.avail_out;
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      const std::size_t got = room - stream_.avail_out;
      unpacked_bytes_ += got;
      if (code == Z_STREAM_END) {
        is_between_members_ = true;
        ::inflateReset(&stream_);
      } else if (code != Z_OK) {
        fault_ = Fault::damaged;
      }
      if (unpacked_bytes_ > kAnyUnpackedBytes && unpacked_bytes_ > kMostTimesPacked * packed_bytes_) {
        fault_ = Fault::unpacks_to_too_much;
      }
      if (got != 0) return got;
    }
  }

 private:
  /// False if nothing is left to unpack.
  bool refill() {
    const std::size_t got = packed_(block_.data(), block_.size());
    packed_bytes_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
    stream_.avail_in = static_cast<uInt>(got);
    if (got != 0) return true;
    is_at_end_ = is_between_members_;
    if (!is_at_end_) fault_ = Fault::cut_short;
    return false;
  }

  /// Another packed file may follow the first one, or zeros that fill the block of a tape. False if there is nothing
  /// more to unpack now.
  bool begin_member() {
    while (stream_.avail_in != 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    constexpr Bytef kFirstByte = 0x1F;
    if (*stream_.next_in != kFirstByte) {
      fault_ = Fault::followed_by_others;
      return false;
    }
    is_between_members_ = false;
    return true;
  }

  ReadBytes packed_;
  std::vector<char> block_;
  z_stream stream_{};
  std::uint64_t packed_bytes_ = 0;
  std::uint64_t unpacked_bytes_ = 0;
  bool is_between_members_ = true;
  bool is_at_end_ = false;
  Fault fault_ = Fault::none;
};

}  // namespace

bool is_gzip(std::string_view beginning) {
  return beginning.starts_with("\x1F\x8B");
}

ReadBytes inflated(ReadBytes packed) {
  return [inflater = std::make_shared<Inflater>(std::move(packed))](char* buffer, std::size_t size) {
    return inflater->read(buffer, size);
  };
}

namespace {

// Fits the second-level cache of a core, because several passes read the bytes.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

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
    line.has_end = false;
    begin_ = end_;
    return true;
  }
}

void LineSource::hand_out(Line& line, const char* begin, const char* end) {
  ++lines_;
  line.number = lines_;
  line.damage = Damage::none;
  line.has_end = true;
  const auto size = static_cast<std::size_t>(end - begin);
  if (has_nul_ && std::memchr(begin, '\0', size) != nullptr) line.damage = Damage::has_nul;
  if (size > kMaxLineBytes) line.damage = Damage::too_long;
  line.text = without_carriage_return({begin, size});
  if (lines_ == 1) line.text = without_byte_order_mark(line.text);
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
  if (end_ + kBlockBytes / 2 > buffer_.size()) buffer_.resize(end_ + kBlockBytes);
  const std::size_t got = read_bytes_(buffer_.data() + end_, buffer_.size() - end_);
  is_at_end_ = got == 0;
  end_ += got;
  has_nul_ = std::memchr(buffer_.data(), '\0', end_) != nullptr;
  return got != 0;
}

}  // namespace syscost::bench::csv
