// SPDX-License-Identifier: MIT
#include <utility>

#include "settings.h"

namespace demo {

Settings::Settings(std::string path) : path_(std::move(path)), lines_(read_lines(path_)) {}

std::optional<std::string> Settings::value(const std::string& key) const {
  const auto found = lines_.find(key);
  return found != lines_.end() ? std::optional(found->second) : std::nullopt;
}

bool Settings::set(const std::string& key, const std::string& value) {
  lines_[key] = value;
  return write_lines(path_, lines_);
}

}  // namespace demo
