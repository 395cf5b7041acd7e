// SPDX-License-Identifier: MIT
#include "csv/file_kind.h"

#include <string>

namespace syscost::bench::csv {
namespace {

std::string without_space(std::string_view beginning) {
  std::string text(beginning);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  return text;
}

}  // namespace

bool is_json(Input& input) {
  return without_space(input.beginning()).starts_with('{');
}

bool is_benchmark_json(Input& input) {
  return without_space(input.beginning()).starts_with(R"({"context":{)");
}

}  // namespace syscost::bench::csv
