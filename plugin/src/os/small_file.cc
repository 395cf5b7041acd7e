// SPDX-License-Identifier: MIT
#include "os/small_file.h"

#include "os/files.h"

namespace syscost {
namespace {

template <class String>
String read_into(String text, const char* path, std::size_t most) {
  const Descriptor file = open_regular(path);
  if (file.is_open() && !read_whole(file, most, text)) text.clear();
  return text;
}

}  // namespace

std::string read_small_file(const std::string& path, std::size_t most) {
  return read_into(std::string(), path.c_str(), most);
}

std::pmr::string read_small_file(const char* path, std::pmr::memory_resource& memory, std::size_t most) {
  return read_into(std::pmr::string(&memory), path, most);
}

}  // namespace syscost
