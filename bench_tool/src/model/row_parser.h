// SPDX-License-Identifier: MIT
//
// RowParser: from the cells of a row to numbers, names and lists, checking what the schema promises.
//
// A cell that cannot be what its column says is never read as 0: the row is refused with the column's name and text.
// Some cells hold lists: classes `file;desc`, errnos `ENOENT:3 EINTR:1`, histograms `512:128 576:3`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "csv/reader.h"
#include "model/dataset.h"
#include "syscost/histogram.h"
#include "syscost/schema.h"

namespace syscost::bench::model {

/// Each parse function returns the fault of the row as a sentence, or "".
class RowParser {
 public:
  /// Interns into `data` and adds its contexts; `data` must outlive the parser.
  explicit RowParser(Dataset& data) : data_(data) {}

  void begin_file(std::uint32_t file) {
    file_ = file;
    last_context_ = kNoContext;
    has_key_ = false;
  }
  /// Fills the key members of `key`.
  std::string parse_key(const csv::Row& row, Sample& key, bool& is_test_row);
  /// Reads a row of record `run` into `run`.
  std::string parse_run(const csv::Row& row, RunFacts& run);
  /// True when the row's key is the one that parse_key() read last, so that it need not be read again.
  bool repeats_key(const csv::Row& row) const {
    return has_key_ && row.repeats_key() && row.text(schema::Column::kOrigin) == last_origin_;
  }
  std::string parse_record(const csv::Row& row, bool& is_test_row) const;
  std::string parse_totals(const csv::Row& row, Totals& totals);
  std::string parse_syscall(const csv::Row& row, bool keeps_histogram, SyscallRow& parsed);

 private:
  NameId name(const csv::Row& row, schema::Column column);
  NameId name(std::string_view text, schema::Column column);
  std::uint32_t context_of(const csv::Row& row);
  void name_call(const csv::Row& row, SyscallRow& parsed);
  bool parse_errno_list(const csv::Row& row, schema::Column column, NameId& list);

  /// A syscall as rows name it. Windows make similar calls in a similar order. So the call that followed this one is a
  /// good guess for the next row, and three comparisons replace three searches.
  struct Call {
    NameId syscall, detail, classes;
    std::string_view syscall_text, detail_text, classes_text;
    std::uint32_t next;
  };

  static constexpr std::uint32_t kNoContext = 0xFFFFFFFF;
  Dataset& data_;
  std::uint32_t file_ = 0;
  std::uint32_t last_context_ = kNoContext;
  std::array<NameId, schema::kColumnCount> last_name_{};  ///< Per column: most rows repeat the row before.
  bool has_key_ = false;                                  ///< parse_key() could read the row that was given to it last.
  std::string last_origin_;
  std::vector<Call> calls_{{}};
  std::unordered_map<std::uint64_t, std::uint32_t> call_of_names_;
  std::uint32_t last_call_ = 0;
};

/// Reads the unsigned decimal number `cell`; an empty one is "not measured". False when it is neither.
bool parse_measured(std::string_view cell, Measured& number);

/// (errno name, count) in the order of the file; nullopt when the text is not such a list.
std::optional<std::vector<std::pair<std::string_view, std::uint64_t>>> parse_errnos(std::string_view text);

/// True when `text` is a list that parse_errnos() reads.
bool is_errnos(std::string_view text);
/// `EAGAIN`, `EPROBE_DEFER`, or `errno_600` for one without a name: as os/errors.h writes it.
bool is_errno(std::string_view word);

/// Adds the buckets of `text` to `histogram` (its exact figures are columns of their own). False when the text is not
/// such a list or names a bound that no bucket starts at; `histogram` may then hold a part of it.
bool add_histogram_text(std::string_view text, Histogram& histogram);

/// True when `classes` holds `word`: has_class("desc;volatile", "volatile").
bool has_class(std::string_view classes, std::string_view word);

}  // namespace syscost::bench::model
