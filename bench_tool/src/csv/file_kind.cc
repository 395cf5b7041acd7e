// SPDX-License-Identifier: MIT
#include "csv/file_kind.h"

#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace syscost::bench::csv {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The text after a byte order mark and white space. The zeros of UTF-16 count as white space: such a file is no less
/// Google Benchmark's, and its reader says what is wrong with it.
std::string without_space(std::string_view beginning) {
  for (const std::string_view mark : {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"}) {
    if (beginning.starts_with(mark)) beginning.remove_prefix(mark.size());
  }
  std::string text(beginning);
  std::erase_if(text, [](char c) { return is_space(c) || c == '\0'; });
  return text;
}

/// Looks at the keys of the outermost object, byte by byte: a file of another tool may be large.
class OuterKeys {
 public:
  /// Takes the next byte. False when the question is answered.
  bool take(char c) {
    if (in_string_) {
      take_in_string(c);
      return true;
    }
    if (is_space(c) || c == '\0') return true;
    if (c == '"') {
      in_string_ = true;
      text_.clear();
    } else if (c == '{' || c == '[') {
      if (depth_ == 1 && is_value_) {
        has_list_ = has_list_ || (c == '[' && text_ == "benchmarks");
        has_context_ = has_context_ || (c == '{' && text_ == "context");
      }
      is_value_ = false;
      ++depth_;
    } else if (c == '}' || c == ']') {
      --depth_;
    } else if (depth_ == 1) {
      is_value_ = c == ':';
    }
    return !has_both() && depth_ > 0;
  }

  /// Other tools have a list of this name, too: pytest-benchmark, for one.
  bool has_both() const { return has_list_ && has_context_; }

 private:
  void take_in_string(char c) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return;
    }
    // A value's text is no key. Longer ones are not the key that is looked for.
    constexpr std::size_t kMost = 16;
    if (depth_ == 1 && !is_value_ && text_.size() < kMost) text_ += c;
  }

  int depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_value_ = false;  ///< A colon came last, so that a value follows.
  bool has_list_ = false;
  bool has_context_ = false;
  std::string text_;  ///< The string that came last.
};

}  // namespace

bool is_json(Input& input) {
  return without_space(input.beginning()).starts_with('{');
}

BenchmarkJson benchmark_json(Input& input) {
  const std::string begin = without_space(input.beginning());
  if (!begin.starts_with('{')) return BenchmarkJson::no;
  if (begin.starts_with(R"({"context":{)")) return BenchmarkJson::yes;
  OuterKeys keys;
  std::array<char, 1U << 16U> buffer{};
  try {
    const ReadBytes bytes = input.bytes();
    bool has_begun = false;
    for (std::size_t got; (got = bytes(buffer.data(), buffer.size())) != 0;) {
      for (const char c : std::string_view(buffer.data(), got)) {
        has_begun = has_begun || c == '{';
        if (has_begun && !keys.take(c)) return keys.has_both() ? BenchmarkJson::yes : BenchmarkJson::no;
      }
    }
  } catch (const std::system_error&) {
    return BenchmarkJson::unknown;
  }
  return BenchmarkJson::unknown;
}

}  // namespace syscost::bench::csv
