// SPDX-License-Identifier: MIT
#include "csv/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "syscost/schema.h"

namespace syscost::bench::csv {
namespace {

// Two lines are read in full: the header, and the row after it, which tells the version.
constexpr std::uint64_t kFirstPlainLine = 3;

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

/// True for a header line among the rows. If a row ends as it should, its other columns need no check.
bool is_header(const Row& row) {
  return row.text(schema::Column::kSchemaVersionColumn) == schema::kColumnNames.front();
}

const char* const kJoined = ": files joined? Give bench a folder that holds them instead";
const std::string kSecondHeader = std::string("a second header") + kJoined;
const char* const kTorn = "the row stops before its last column (`end`): torn by a crash or a full disk; not counted";

}  // namespace

std::string version_fault(std::uint64_t version) {
  return fmt::format("schema version {}, but this bench reads version {}: measure again with this syscost", version,
                     schema::kSchemaVersion);
}

/// The loop over the lines; a class so that Row can hand it its cells.
class RowReader {
 public:
  RowReader(const std::string& name, ReadBytes bytes, Problems& problems)
      : name_(name), problems_(problems), lines_(std::move(bytes)) {}

  std::uint64_t lines() const { return lines_.lines(); }

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
    if (fault.empty()) return true;
    problems_.add(name_, 1, std::move(fault));
    return false;
  }

  void read_rows(const RowHandler& handle) {
    Line line = first_;
    for (bool is_there = has_first_ || lines_.next(line); is_there; is_there = lines_.next(line)) {
      if (line.damage == Damage::none && line.text.empty()) continue;  // an editor leaves one at the end
      std::string fault = damage_text(line.damage);
      if (fault.empty() && line.number >= kFirstPlainLine && !has_row_end(line.text)) fault = kTorn;
      if (fault.empty()) {
        if (skips_ && line.text.starts_with(skipped_)) continue;
        fault = take(line, handle);
      }
      if (!fault.empty()) problems_.add(name_, line.number, std::move(fault));
    }
  }

 private:
  static std::string damage_text(Damage damage) {
    switch (damage) {
      case Damage::too_long:
        return fmt::format("longer than {} bytes: not written by syscost", kMaxLineBytes);
      case Damage::has_nul:
        return "holds NUL bytes: damaged, or not text";
      case Damage::endless:
        return fmt::format("longer than {} MiB: not written by syscost; what follows is not read",
                           kEndlessLineBytes >> 20U);
      case Damage::none:
        break;
    }
    return {};
  }

  std::string take(const Line& line, const RowHandler& handle) {
    constexpr auto kRecord = static_cast<std::size_t>(schema::Column::kRecord);
    const bool repeats_key = !key_.empty() && line.text.starts_with(key_);
    Cells& cells = row_.cells_;
    const SplitFault split =
        repeats_key && splits_key_ ? cells.split_after(line.text, kRecord) : cells.split(line.text);
    splits_key_ = false;
    if (split != SplitFault::none) return split_text(split, line.text);
    if (row_.text(schema::Column::kEnd) != schema::kEndMark) return kTorn;
    if (is_header(row_)) return kSecondHeader;
    row_.line_ = line.number;
    row_.repeats_key_ = repeats_key;
    if (!repeats_key) key_.assign(line.text.substr(0, cells.begin_in_line(kRecord)));
    splits_key_ = true;
    Skip skip = Skip::nothing;
    std::string fault = handle(row_, skip);
    skips_ = skip != Skip::nothing;
    if (skips_) {
      const schema::Column end = skip == Skip::key ? schema::Column::kRecord : schema::Column::kPid;
      skipped_.assign(line.text.substr(0, cells.begin_in_line(static_cast<std::size_t>(end))));
    }
    return fault;
  }

  std::string split_text(SplitFault fault, std::string_view line) const {
    // Joined files of two versions have lines of two lengths.
    if (line.substr(line.starts_with('"') ? 1 : 0).starts_with(schema::kColumnNames.front())) return kSecondHeader;
    if (const std::uint64_t version = version_of(line); version != 0 && version != schema::kSchemaVersion) {
      return fmt::format("a row of schema version {} in a file of another one{}", version, kJoined);
    }
    switch (fault) {
      case SplitFault::too_few:
        return kTorn;
      case SplitFault::too_many:
        return fmt::format("more than {} columns: not written by syscost, or two rows in one line",
                           schema::kColumnCount);
      case SplitFault::open_quote:
        return "a quote is not closed on this line: torn, or a line break inside a field (syscost writes none)";
      case SplitFault::none:
        break;
    }
    return {};
  }

  const std::string& name_;
  Problems& problems_;
  LineSource lines_;
  Line first_;  ///< The row after the header, which tells the version.
  bool has_first_ = false;
  Row row_;
  std::string key_;          ///< The bytes of the columns before `record` of the row that was handed out last.
  bool splits_key_ = false;  ///< The cells of the row still say where these columns begin.
  std::string skipped_;      ///< Lines that begin with this are not handed out.
  bool skips_ = false;
};

ReadEnd read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems, Begin begin) {
  ReadEnd end;
  try {
    RowReader reader(name, std::move(bytes), problems);
    if (begin == Begin::header && !reader.read_header()) return end;
    end.is_ours = true;
    reader.read_rows(handle);
    end.lines = reader.lines();
  } catch (const std::system_error& error) {
    problems.add(name, 0, fmt::format("cannot be read: {}", error.code().message()));
  }
  return end;
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

namespace {

// Below this a thread costs more than it saves.
constexpr std::uint64_t kSmallestPart = std::uint64_t{16} << 20;
constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

/// The first offset from `offset` on at which a line begins; `end` if none begins before `end`.
std::uint64_t next_line_begin(const Input& input, std::uint64_t offset, std::uint64_t end) {
  std::vector<char> buffer(kBufferBytes);
  const ReadBytes bytes = input.bytes_of(offset, end - offset);
  try {
    while (const std::size_t got = offset < end ? bytes(buffer.data(), buffer.size()) : 0) {
      if (const void* feed = std::memchr(buffer.data(), '\n', got); feed != nullptr) {
        return offset + static_cast<std::uint64_t>(static_cast<const char*>(feed) - buffer.data()) + 1;
      }
      offset += got;
    }
  } catch (const std::system_error&) {
    // The part that begins here cannot be read either, and says so.
  }
  return end;
}

}  // namespace

std::vector<FilePart> split_file(Input& input, unsigned most) {
  std::vector<FilePart> whole(1);
  if (!input.is_regular()) return whole;
  const std::uint64_t size = input.size();
  const std::uint64_t count = std::min<std::uint64_t>(most, size / kSmallestPart);
  // A file without our header is no CSV of ours. Read as one part, it is refused at its first line.
  if (count < 2 || !input.beginning().starts_with(schema::kColumnNames.front())) return whole;

  std::vector<FilePart> parts;
  std::uint64_t offset = 0;
  for (std::uint64_t i = 1; i <= count && offset < size; ++i) {
    const std::uint64_t end = i == count ? size : std::max(offset, next_line_begin(input, size / count * i, size));
    if (end != offset) parts.push_back({offset, end - offset});
    offset = end;
  }
  // A file may grow while it is read: what was appended belongs to the last part.
  parts.back().size = 0;
  return parts;
}

ReadEnd read_csv_part(Input& input, const FilePart& part, const RowHandler& handle, Problems& problems) {
  ReadBytes bytes = input.is_regular() ? input.bytes_of(part.offset, part.size) : input.bytes();
  return read_csv(input.path(), std::move(bytes), handle, problems, part.offset == 0 ? Begin::header : Begin::row);
}

}  // namespace syscost::bench::csv
