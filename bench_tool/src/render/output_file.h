// SPDX-License-Identifier: MIT
//
// OutputFile: a file that is there whole, or not at all; and the packing of text by gzip.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "os/files.h"

namespace syscost::bench::render {

/// The kind of file that OutputFile may replace; it refuses to replace any other.
struct OutputKind {
  std::string_view beginning;  ///< Each such file begins with it.
  std::string_view what;       ///< `file that bench exported`, in the message of a refusal.
};

/// Writes beside its path, and takes the path's place in finish(). Without finish(), nothing is left. Not thread-safe.
/// Each function returns what is wrong, or "".
class OutputFile {
 public:
  OutputFile(std::string path, OutputKind kind) : path_(std::move(path)), kind_(kind) {}

  /// Refuses a path at which something stands that is no empty file and none of `kind`: a CSV, for example, a folder or
  /// a link. A character device, as /dev/null, is written to.
  std::string open();
  std::string write(std::string_view text);
  std::string finish();

 private:
  std::string fault_of(int error) const;

  std::string path_;
  OutputKind kind_;
  Replacement replacement_;
};

/// Writes the whole file. Returns what is wrong, or "".
std::string write_output(const std::string& path, OutputKind kind, std::string_view text);

/// Packs a text: the bodies of requests, and the parts of a report that are read later. Throws std::bad_alloc if there
/// is no memory.
std::string gzip(std::string_view text);

}  // namespace syscost::bench::render
