// SPDX-License-Identifier: MIT
//
// Paint: colour on a terminal, plain text elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::render {

class Paint {
 public:
  explicit Paint(bool is_on) : is_on_(is_on) {}

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("31", text); }
  std::string green(std::string_view text) const { return wrap("32", text); }
  std::string yellow(std::string_view text) const { return wrap("33", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!is_on_) return std::string(text);
    std::string out = "\033[";
    out += code;
    out += 'm';
    out += text;
    return out + "\033[0m";
  }

  bool is_on_;
};

}  // namespace syscost::bench::render
