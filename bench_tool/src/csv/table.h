// SPDX-License-Identifier: MIT
//
// Table: the rows of a CSV, split into cells by fast-cpp-csv-parser.
#pragma once

// It reads when it needs bytes, in the thread that asks for rows.
#define CSV_IO_NO_THREAD
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"  // it cuts long names of files
#endif
#include <csv.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace syscost::bench::csv {

/// Delivers the next line, without its end; empty: it holds no row. It stays until the next call. nullopt at the end.
using NextLine = std::function<std::optional<std::string_view>()>;

enum class SplitFault { none, too_few, too_many, open_quote };

template <std::size_t kColumns>
class Table {
 public:
  using Cells = std::array<char*, kColumns>;

  /// `line`: the number of the line before the first one.
  Table(const std::string& name, NextLine next, std::uint32_t line)
      : reader_(name, std::make_unique<Lines>(std::move(next))) {
    reader_.set_file_line(line);
  }

  /// False at the end. Where fault() is `none`, cells() are those of the next row.
  bool next() {
    try {
      fault_ = SplitFault::none;
      return read(std::make_index_sequence<kColumns>());
    } catch (const io::error::too_few_columns&) {
      fault_ = SplitFault::too_few;
    } catch (const io::error::too_many_columns&) {
      fault_ = SplitFault::too_many;
    } catch (const io::error::escaped_string_not_closed&) {
      fault_ = SplitFault::open_quote;
    }
    return true;
  }

  SplitFault fault() const { return fault_; }
  const Cells& cells() const { return cells_; }
  /// Of the row.
  std::uint32_t line() const { return reader_.get_file_line(); }

 private:
  /// The library takes bytes. It takes fewer than it asks for as the end.
  class Lines final : public io::ByteSourceBase {
   public:
    explicit Lines(NextLine next) : next_(std::move(next)) {}

    int read(char* buffer, int size) override {
      int filled = 0;
      while (filled != size) {
        if (!is_inside_) {
          const std::optional<std::string_view> line = has_ended_ ? std::nullopt : next_();
          has_ended_ = !line;
          if (!line) break;
          left_ = *line;
          is_inside_ = true;
        }
        const auto count = static_cast<int>(std::min(left_.size(), static_cast<std::size_t>(size - filled)));
        std::copy_n(left_.data(), count, buffer + filled);
        left_.remove_prefix(static_cast<std::size_t>(count));
        filled += count;
        if (!left_.empty() || filled == size) continue;
        buffer[filled++] = '\n';
        is_inside_ = false;
      }
      return filled;
    }

   private:
    NextLine next_;
    std::string_view left_;
    bool has_ended_ = false;
    bool is_inside_ = false;  ///< `left_`, and the line feed after it, are not delivered yet.
  };
  struct IsEmpty {
    static bool is_comment(const char* line) { return *line == '\0'; }
  };

  template <std::size_t... kIndex>
  bool read(std::index_sequence<kIndex...>) {
    return reader_.read_row(cells_[kIndex]...);
  }

  io::CSVReader<kColumns, io::trim_chars<>, io::double_quote_escape<',', '"'>, io::throw_on_overflow, IsEmpty> reader_;
  Cells cells_{};
  SplitFault fault_ = SplitFault::none;
};

}  // namespace syscost::bench::csv
