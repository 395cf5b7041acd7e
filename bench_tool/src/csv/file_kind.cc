// SPDX-License-Identifier: MIT
#include "csv/file_kind.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace syscost::bench::csv {
namespace {

/// The beginning of a regular file without white space; "" of anything else.
std::string beginning(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  std::ifstream in(file, std::ios::binary);
  std::array<char, 256> buffer{};
  in.read(buffer.data(), buffer.size());
  std::string text(buffer.data(), static_cast<std::size_t>(in.gcount()));
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  return text;
}

}  // namespace

bool is_json(const std::string& file) {
  return beginning(file).starts_with('{');
}

bool is_benchmark_json(const std::string& file) {
  return beginning(file).starts_with(R"({"context":{)");
}

}  // namespace syscost::bench::csv
