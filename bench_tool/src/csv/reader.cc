// SPDX-License-Identifier: MIT
#include "csv/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "csv/table.h"
#include "syscost/schema.h"

namespace syscost::bench::csv {
namespace {

/// The end of each row. A line without it is no row. A line with it may still be none: a quoted cell can hold it.
const std::string kRowEnd = std::string(",") + std::string(schema::kEndMark);
/// The same from a program that quotes each cell.
const std::string kQuotedRowEnd = ",\"" + std::string(schema::kEndMark) + '"';

/// Returns the fault of a header line as a sentence; "" for ours.
std::string header_fault(std::string_view line) {
  for (std::size_t i = 0; i < schema::kColumnCount; ++i) {
    const std::string_view found = line.substr(0, line.find(','));
    const std::string_view expected = schema::kColumnNames[i];
    if (found != expected) {
      if (found.empty() && i != 0) {
        return fmt::format("the header ends before column {} (\"{}\"): not a whole syscost CSV", i + 1, expected);
      }
      return fmt::format("column {} is \"{}\" where \"{}\" belongs: not a syscost CSV of schema version {}", i + 1,
                         found.substr(0, 60), expected, schema::kSchemaVersion);
    }
    line.remove_prefix(std::min(line.size(), found.size() + 1));
  }
  if (!line.empty()) {
    return fmt::format("column {} is \"{}\" after the last one (\"end\"): not a syscost CSV of schema version {}",
                       schema::kColumnCount + 1, line.substr(0, std::min<std::size_t>(line.find(','), 60)),
                       schema::kSchemaVersion);
  }
  return {};
}

/// Why `header`, the text of a file without a line end, is only the beginning of ours; else "".
std::string torn_header_fault(std::string_view header) {
  if (header.empty() || !fmt::format("{}", fmt::join(schema::kColumnNames, ",")).starts_with(header)) return {};
  const auto column = static_cast<std::size_t>(std::count(header.begin(), header.end(), ','));
  const std::string_view name = schema::kColumnNames[column];
  const std::string_view found = header.substr(header.rfind(',') + 1);
  if (column + 1 == schema::kColumnCount && found == name) return {};  // all of it is there
  return fmt::format(
      "the file ends inside its header, in column {} (\"{}\" of \"{}\"): torn by a crash, a full disk or a copy that "
      "stopped; copy it again, or measure again",
      column + 1, found, name);
}

bool has_row_end(std::string_view line) {
  return line.ends_with(kRowEnd) || line.ends_with(kQuotedRowEnd);
}

/// Why a header with other separators, which spreadsheets of some languages write, cannot be read; else "".
std::string separator_fault(std::string_view header) {
  header.remove_prefix(std::min(schema::kColumnNames.front().size(), header.size()));
  const char separator = header.empty() ? ',' : header.front();
  if (separator != ';' && separator != '\t' && separator != '|') return {};
  return fmt::format(
      "its columns are separated by {}, not by commas: a program saved it anew; save it with commas, or "
      "use the file that syscost wrote",
      separator == '\t'  ? "tabs"
      : separator == ';' ? "semicolons"
                         : "|");
}

/// The schema version at the start of a row, 0 when there is none.
std::uint64_t version_of(std::string_view line) {
  std::uint64_t version = 0;
  if (line.starts_with('"')) line.remove_prefix(1);
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, version);
  return error == std::errc() && rest != end && (*rest == ',' || *rest == '"') ? version : 0;
}

const char* const kJoined = ": files joined? Give bench a folder that holds them instead";
const std::string kSecondHeader = std::string("a second header") + kJoined;
const char* const kOpenQuote =
    "a quote is not closed on this line: torn, or a line break inside a field (syscost writes none)";
const char* const kTorn = "the row stops before its last column (`end`): torn by a crash or a full disk; not counted";

}  // namespace

std::string version_fault(std::uint64_t version) {
  return fmt::format("schema version {}, but this bench reads version {}: measure again with this syscost", version,
                     schema::kSchemaVersion);
}

std::optional<std::string_view> beginning_of(std::string_view line, schema::Column column) {
  std::size_t end = 0;
  for (auto left = static_cast<std::size_t>(column); left > 0; --left) {
    end = line.find(',', end);
    if (end == std::string_view::npos) return std::nullopt;
    ++end;
  }
  const std::string_view beginning = line.substr(0, end);
  return beginning.find('"') == std::string_view::npos ? std::optional(beginning) : std::nullopt;
}

/// The loop over the lines; a class so that Row can hand it its cells.
class RowReader {
 public:
  RowReader(const std::string& name, ReadBytes bytes, Problems& problems)
      : name_(name), problems_(problems), lines_(std::move(bytes)) {}

  /// False when the rest of the file is not ours to read.
  bool read_header() {
    Line line;
    if (!lines_.next(line)) {
      problems_.add(name_, 0, "the file is empty: no run was written to it");
      return false;
    }
    if (line.damage != Damage::none) {
      problems_.add(name_, 1, "the first line is not text: not a syscost CSV");
      return false;
    }
    std::string header(line.text);
    std::erase(header, '"');  // no name of ours has one, and a program that saves the file may quote each
    std::string fault = header_fault(header);
    if (header.starts_with(fmt::format("{},", schema::kColumnNames.front()))) {
      has_first_ = lines_.next(first_);
      const std::uint64_t version = has_first_ && first_.damage == Damage::none ? version_of(first_.text) : 0;
      if (version != 0 && version != schema::kSchemaVersion) fault = version_fault(version);
    } else if (header.starts_with(schema::kColumnNames.front())) {
      if (std::string other = separator_fault(header); !other.empty()) fault = std::move(other);
    } else {
      fault += " (is it the file given to --syscost_csv?)";
    }
    if (!line.has_end) {
      if (std::string cut = torn_header_fault(header); !cut.empty()) fault = std::move(cut);
    }
    if (fault.empty()) return true;
    problems_.add(name_, 1, std::move(fault));
    return false;
  }

  void read_rows(const RowHandler& handle, const std::string& only_run) {
    only_run_ = only_run;
    Table<schema::kColumnCount> table(
        name_, [this] { return next_line(); }, 1);
    while (table.next()) {
      std::string fault = fault_of(table);
      if (fault.empty()) fault = take(table, handle);
      if (!fault.empty()) problems_.add(name_, table.line(), std::move(fault));
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// What is wrong with a line before it is split. Such a line goes to the library as a row of this sign, this number,
  /// the line's version, and empty cells, so that it is reported in its turn.
  enum Fault : char { none, too_long, has_nul, endless, second_header, other_version, open_quote, torn };
  static constexpr char kSign = '\x01';

  std::optional<std::string_view> next_line() {
    if (failure_) return std::nullopt;
    Line line = first_;
    try {
      if (!has_first_ && !lines_.next(line)) return std::nullopt;
    } catch (const std::system_error&) {
      failure_ = std::current_exception();  // after the rows before
      return std::nullopt;
    }
    has_first_ = false;
    if (line.damage == Damage::none && line.text.empty()) return line.text;  // an editor leaves one at the end
    const Fault fault = fault_of(line);
    if (fault == Fault::none) return is_needed(line.text) ? line.text : std::string_view();
    marked_ = fmt::format("{}{}{}", kSign, static_cast<int>(fault), version_of(line.text));
    marked_.append(schema::kColumnCount - 1, ',');
    return marked_;
  }

  static Fault fault_of(const Line& line) {
    switch (line.damage) {
      case Damage::too_long:
        return Fault::too_long;
      case Damage::has_nul:
        return Fault::has_nul;
      case Damage::endless:
        return Fault::endless;
      case Damage::none:
        break;
    }
    if (line.text.starts_with(kSign) || line.text.starts_with(std::string{'"', kSign})) return Fault::has_nul;
    // Joined files of two versions have lines of two lengths.
    if (line.text.substr(line.text.starts_with('"') ? 1 : 0).starts_with(schema::kColumnNames.front())) {
      return Fault::second_header;
    }
    const std::uint64_t version = version_of(line.text);
    if (version != 0 && version != schema::kSchemaVersion) return Fault::other_version;
    if (has_row_end(line.text)) return Fault::none;
    return std::count(line.text.begin(), line.text.end(), '"') % 2 == 0 ? Fault::torn : Fault::open_quote;
  }

  /// False for rows of another run, after the first of them with the same beginning.
  bool is_needed(std::string_view line) {
    if (only_run_.empty()) return true;
    if (!other_.empty() && line.starts_with(other_)) return false;
    other_.clear();
    const std::optional<std::string_view> run = beginning_of(line, schema::Column::kStartedAt);
    if (run && !run->ends_with("," + only_run_ + ",")) other_ = beginning_of(line, schema::Column::kPid).value_or("");
    return true;
  }

  static std::string fault_of(const Table<schema::kColumnCount>& table) {
    switch (table.fault()) {
      case SplitFault::too_few:
        return kTorn;
      case SplitFault::too_many:
        return fmt::format("more than {} columns: not written by syscost, or two rows in one line",
                           schema::kColumnCount);
      case SplitFault::open_quote:
        return kOpenQuote;
      case SplitFault::none:
        break;
    }
    const std::string_view first = table.cells().front();
    if (!first.starts_with(kSign)) {
      return table.cells().back() == schema::kEndMark ? std::string() : std::string(kTorn);
    }
    switch (static_cast<Fault>(first.size() > 1 ? first[1] - '0' : 0)) {
      case Fault::too_long:
        return fmt::format("longer than {} bytes: not written by syscost", kMaxLineBytes);
      case Fault::has_nul:
        return "holds NUL bytes: damaged, or not text";
      case Fault::endless:
        return fmt::format("longer than {} MiB: not written by syscost; what follows is not read",
                           kEndlessLineBytes >> 20U);
      case Fault::second_header:
        return kSecondHeader;
      case Fault::other_version:
        return fmt::format("a row of schema version {} in a file of another one{}", first.substr(2), kJoined);
      case Fault::open_quote:
        return kOpenQuote;
      default:
        return kTorn;
    }
  }

  std::string take(const Table<schema::kColumnCount>& table, const RowHandler& handle) {
    const auto& cells = table.cells();
    // The library puts an end after each cell and leaves the others where they are.
    const std::string_view key(
        cells.front(),
        static_cast<std::size_t>(cells[static_cast<std::size_t>(schema::Column::kRecord)] - cells.front()));
    row_.cells_ = cells.data();
    row_.line_ = table.line();
    row_.repeats_key_ = !key_.empty() && key == key_;
    if (!row_.repeats_key_) {
      const bool has_quotes =
          key.find('"') != std::string_view::npos || cells[1] != cells[0] + std::strlen(cells[0]) + 1;
      key_ = has_quotes ? std::string_view() : key;
    }
    return handle(row_);
  }

  const std::string& name_;
  Problems& problems_;
  LineSource lines_;
  Line first_;  ///< The row after the header, which tells the version.
  bool has_first_ = false;
  std::exception_ptr failure_;  ///< Of the reading.
  std::string marked_;
  std::string only_run_;
  std::string other_;  ///< Lines that begin with this are of another run.
  Row row_;
  std::string key_;  ///< The columns before `record` of the row that was handed out last, if they had no quotes.
};

void read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
              const std::string& only_run) {
  try {
    RowReader reader(name, std::move(bytes), problems);
    if (reader.read_header()) reader.read_rows(handle, only_run);
  } catch (const std::system_error& error) {
    problems.add(name, 0, fmt::format("cannot be read: {}", error.code().message()));
  }
}

void read_csv_text(const std::string& name, std::string_view text, const RowHandler& handle, Problems& problems) {
  auto read_bytes = [text](char* buffer, std::size_t size) mutable {
    std::size_t count = std::min(size, text.size());
    std::memcpy(buffer, text.data(), count);
    text.remove_prefix(count);
    return count;
  };
  read_csv(name, read_bytes, handle, problems);
}

}  // namespace syscost::bench::csv
