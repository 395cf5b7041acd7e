// SPDX-License-Identifier: MIT
#include "csv/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace syscost::bench::csv {
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

}  // namespace syscost::bench::csv
