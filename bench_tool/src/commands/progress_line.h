// SPDX-License-Identifier: MIT
//
// ProgressLine: what a command that runs others does just now, on one line of the terminal, and nothing elsewhere.
#pragma once

#include <unistd.h>

#include <iostream>
#include <string>

namespace syscost::bench::commands {

class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& err)
      : err_(err), is_on_(err.rdbuf() == std::cerr.rdbuf() && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& line) {
    if (is_on_) err_ << "\r\033[K" << line << std::flush;
    is_drawn_ = is_on_ && !line.empty();
  }
  /// Before anything else is printed.
  void clear() {
    if (is_drawn_) show("");
  }

 private:
  std::ostream& err_;
  bool is_on_;
  bool is_drawn_ = false;
};

}  // namespace syscost::bench::commands
