// SPDX-License-Identifier: MIT
//
// A program's settings: a file of lines `key=value`. Version 1.0 reads the file for each question, version 1.1 once.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace demo {

class Settings {
 public:
  explicit Settings(std::string path);
  /// The value of `key`; empty if the file has no such line.
  std::optional<std::string> value(const std::string& key) const;
  /// Sets `key`, and replaces the file as a whole: a reader sees the old lines or the new ones.
  bool set(const std::string& key, const std::string& value);

 private:
  std::string path_;
  std::map<std::string, std::string> lines_;  ///< Version 1.1 only.
};

/// The lines of the file; none if there is no file.
std::map<std::string, std::string> read_lines(const std::string& path);
/// Writes them to a new file, which takes the place of the old one.
bool write_lines(const std::string& path, const std::map<std::string, std::string>& lines);

}  // namespace demo
