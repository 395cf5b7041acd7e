// SPDX-License-Identifier: MIT
#include "render/output_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "csv/text.h"

namespace syscost::bench::render {
namespace {

/// True if the file is empty, or begins with `expected`.
bool may_be_replaced(int descriptor, std::string_view expected) {
  std::string beginning(csv::kByteOrderMark.size() + expected.size(), '\0');
  const ssize_t count = pread(descriptor, beginning.data(), beginning.size(), 0);
  if (count <= 0) return count == 0;
  const std::string_view text =
      csv::without_byte_order_mark(std::string_view(beginning).substr(0, static_cast<std::size_t>(count)));
  return text.starts_with(expected);
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

}  // namespace

std::string OutputFile::fault_of(int error) const {
  if (error == 0) return {};
  return fmt::format("{} cannot be written: {}", csv::printable(path_), std::generic_category().message(error));
}

std::string OutputFile::open() {
  mode_t mode = usual_mode();
  struct stat there {};
  if (::lstat(path_.c_str(), &there) != 0) {
    if (errno != ENOENT) return fault_of(errno);
  } else if (S_ISLNK(there.st_mode)) {
    return fmt::format("{} is a link, and bench writes through none: give the name of the file itself",
                       csv::printable(path_));
  } else if (!S_ISCHR(there.st_mode)) {  // /dev/null: nothing to replace
    const Descriptor old = open_regular(path_.c_str(), O_NOFOLLOW);
    if (!old.is_open() || !may_be_replaced(old.number(), kind_.beginning)) {
      return fmt::format("{} is there already, and is no {}: it is left as it is. Give another name",
                         csv::printable(path_), kind_.what);
    }
    mode = there.st_mode & 0777U;
  }
  return fault_of(replacement_.begin(path_, mode));
}

std::string OutputFile::write(std::string_view text) {
  return fault_of(replacement_.write(text));
}

std::string OutputFile::finish() {
  return fault_of(replacement_.finish());
}

std::string write_output(const std::string& path, OutputKind kind, std::string_view text) {
  OutputFile file(path, kind);
  std::string fault = file.open();
  if (fault.empty()) fault = file.write(text);
  return fault.empty() ? file.finish() : fault;
}

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
