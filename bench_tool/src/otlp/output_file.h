// SPDX-License-Identifier: MIT
//
// OutputFile: a file that is there whole, or not at all.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::otlp {

/// Writes beside its path, under a name that no one can foresee, and takes the path's place in finish(). Without
/// finish(), nothing is left. Not thread-safe. Each function returns what is wrong, or "".
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Refuses a path at which something stands that is no earlier export: a CSV, for example, or a folder.
  std::string open();
  std::string write(std::string_view text);
  std::string finish();

 private:
  std::string fault_of(int error) const;

  std::string path_;
  std::string beside_;
  int descriptor_ = -1;
};

}  // namespace syscost::bench::otlp
