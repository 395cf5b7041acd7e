// SPDX-License-Identifier: MIT
#include "model/benchmark_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "csv/text.h"

namespace syscost::bench::model {
namespace {

class Repair {
 public:
  explicit Repair(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (!text_.empty()) {
      if (text_.front() == '"') {
        take_string();
      } else if (!take_word()) {
        take(1);
      }
    }
    return std::move(out_);
  }

 private:
  void take(std::size_t bytes) {
    out_ += text_.substr(0, bytes);
    text_.remove_prefix(bytes);
  }

  void take_string() {
    take(1);
    while (!text_.empty() && text_.front() != '"') {
      const csv::Character character = csv::first_character(text_);
      const auto byte = static_cast<unsigned char>(text_.front());
      if (byte == '\\') {
        take_escape();
      } else if (!character.is_valid || byte < 0x20) {
        out_ += fmt::format("\\\\x{:02x}", byte);
        text_.remove_prefix(1);
      } else {
        take(character.bytes);
      }
    }
    if (!text_.empty()) take(1);
  }

  /// Old versions write a backslash of a name as it is.
  void take_escape() {
    const std::size_t bytes = escape_at(0);
    if (bytes != 0) {
      take(bytes);
    } else {
      out_ += "\\\\";
      text_.remove_prefix(1);
    }
  }

  /// The length of the escape at `at`; 0 if there is none.
  std::size_t escape_at(std::size_t at) const {
    constexpr std::string_view kSimple = "\"\\/bfnrt";
    if (at + 1 >= text_.size() || text_[at] != '\\') return 0;
    if (kSimple.find(text_[at + 1]) != std::string_view::npos) return 2;
    const std::optional<unsigned> unit = code_unit_at(at);
    if (!unit || (*unit >= 0xDC00 && *unit <= 0xDFFF)) return 0;
    if (*unit < 0xD800 || *unit > 0xDBFF) return 6;
    // The first half of a character needs the second.
    const std::optional<unsigned> second = code_unit_at(at + 6);
    return second && *second >= 0xDC00 && *second <= 0xDFFF ? 12 : 0;
  }

  /// The code unit of `\\u00e4` at `at`.
  std::optional<unsigned> code_unit_at(std::size_t at) const {
    if (at + 6 > text_.size() || text_.substr(at, 2) != "\\u") return std::nullopt;
    unsigned unit = 0;
    const char* const begin = text_.data() + at + 2;
    const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
    return error == std::errc() && end == begin + 4 ? std::optional(unit) : std::nullopt;
  }

  /// Takes `-NaN`, `Infinity`, `-nan(ind)`: in any case, because each C library has words of its own.
  bool take_word() {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const std::size_t sign = text_.front() == '-' || text_.front() == '+' ? 1 : 0;
    std::size_t end = sign;
    std::string word;
    while (end < text_.size() && is_letter(text_[end])) word += static_cast<char>(text_[end++] | 0x20);
    if (word != "nan" && word != "inf" && word != "infinity") {
      if (word.empty() || sign != 0) return false;
      take(end);  // true, false, null
      return true;
    }
    if (end < text_.size() && text_[end] == '(') end = std::min(text_.find(')', end), text_.size() - 1) + 1;
    out_ += "null";
    text_.remove_prefix(end);
    return true;
  }

  std::string_view text_;
  std::string out_;
};

}  // namespace

std::string repaired_json(std::string_view text) {
  return Repair(text).run();
}

}  // namespace syscost::bench::model
