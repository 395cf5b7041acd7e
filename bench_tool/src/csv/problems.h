// SPDX-License-Identifier: MIT
//
// Problems: what was wrong with the input, kept until the end of the command.
//
// One bad line must not hide the million good ones after it, and it must not pass silently. So a reader notes what it
// could not use and goes on. The command prints the notes as `file:line: message` and ends with exit code 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace syscost::bench::csv {

/// Not thread-safe: one reader, one Problems; merge with append().
class Problems {
 public:
  /// The most lines that are named per file. The rest are counted only, so that a file of garbage does not fill memory.
  static constexpr std::size_t kNamedPerFile = 20;

  /// Notes `message` about `file`; `line` counts from 1, 0 means the file as a whole.
  void add(const std::string& file, std::uint64_t line, std::string message);
  /// Notes `count` more about `file` that are not named, because more than kNamedPerFile were.
  void add_unnamed(const std::string& file, std::size_t count);
  /// Notes what was read as it is, and what a reader must know of it: it changes no exit code.
  void remark(const std::string& file, std::string message);
  /// Adds the notes of `other`.
  void append(const Problems& other);
  /// Adds the notes of another reading, perhaps of the same files. Leaves out notes that are here already.
  void append_unnoted(const Problems& other);

  bool empty() const { return total_ == 0; }
  std::size_t count() const { return total_; }
  /// Each as `file:line: message`, safe to print, in the order they were noted, and how many more there are; remarks as
  /// `file: note: message`.
  std::vector<std::string> texts() const;
  /// Prints a line for each of them.
  void print(std::ostream& err) const;

 private:
  struct Problem {
    std::string file;
    std::uint64_t line;
    std::string message;

    bool operator==(const Problem&) const = default;
  };
  std::vector<Problem> named_;
  std::map<std::string, std::size_t> count_by_file_;
  std::size_t total_ = 0;
  struct Remarks {
    std::vector<std::string> named;
    std::size_t more = 0;  ///< That are not named.
  };
  std::map<std::string, Remarks> remarks_;  ///< By file.
};

}  // namespace syscost::bench::csv
