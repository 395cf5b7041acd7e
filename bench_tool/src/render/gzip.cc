// SPDX-License-Identifier: MIT
#include "render/gzip.h"

#include <zlib.h>

#include <new>

namespace syscost::bench::render {

std::string gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;  // 16: gzip's header in the place of zlib's
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::bad_alloc();  // deflateBound() is enough for one call
  return packed;
}

}  // namespace syscost::bench::render
