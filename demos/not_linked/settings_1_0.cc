// SPDX-License-Identifier: MIT
#include <utility>

#include "settings.h"

namespace demo {

Settings::Settings(std::string path) : path_(std::move(path)) {}

std::optional<std::string> Settings::value(const std::string& key) const {
  const auto lines = read_lines(path_);
  const auto found = lines.find(key);
  return found != lines.end() ? std::optional(found->second) : std::nullopt;
}

bool Settings::set(const std::string& key, const std::string& value) {
  auto lines = read_lines(path_);
  lines[key] = value;
  return write_lines(path_, lines);
}

}  // namespace demo
