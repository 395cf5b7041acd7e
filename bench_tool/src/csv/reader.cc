// SPDX-License-Identifier: MIT
#include "csv/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace syscost::bench::csv {
namespace {

/// The lines that GuardedSource marked; an empty line looks the same and is no row either.
struct NoRow {
  static bool is_comment(const char* line) { return *line == kNoRowMark; }
};

using Library = io::CSVReader<schema::kColumnCount, io::trim_chars<>, io::double_quote_escape<',', '"'>,
                              io::throw_on_overflow, NoRow>;

/// What is wrong with a header line; "" when it is ours. The library matches columns in any order; ours are fixed.
std::string header_fault(std::string_view line) {
  for (std::size_t i = 0; i < schema::kColumnCount; ++i) {
    std::string_view found = line.substr(0, line.find(','));
    if (found != schema::kColumnNames[i]) {
      if (found.empty() && i != 0) {
        return fmt::format("the header ends before column {} (\"{}\"): not a whole syscost CSV", i + 1,
                           schema::kColumnNames[i]);
      }
      return fmt::format("column {} is \"{}\" where \"{}\" belongs: not a syscost CSV of schema version {}", i + 1,
                         found.substr(0, 60), schema::kColumnNames[i], schema::kSchemaVersion);
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

/// The schema version at the start of a row, 0 when there is none.
int version_of(const char* line) {
  int version = 0;
  const char* end = line + std::strlen(line);
  auto [rest, error] = std::from_chars(line, end, version);
  return error == std::errc() && *rest == ',' ? version : 0;
}

/// True for a header line among the rows; the other columns of a row that ends as it should need no look.
bool is_header(const Row& row) {
  return row.text(schema::Column::kSchemaVersionColumn) == schema::kColumnNames.front();
}

const char* const kSecondHeader = "a second header: files joined? Give bench a folder that holds them instead";
const char* const kTorn = "the row stops before its last column (`end`): torn by a crash or a full disk; not counted";

}  // namespace

/// The loop around the library; a class so that Row can hand it its cells.
class RowReader {
 public:
  RowReader(const std::string& name, ReadBytes bytes, Problems& problems)
      : name_(name),
        problems_(problems),
        damage_(std::make_shared<LineDamage>()),
        library_(name,
                 std::unique_ptr<io::ByteSourceBase>(std::make_unique<GuardedSource>(std::move(bytes), damage_))) {}

  std::uint64_t lines() const { return library_.get_file_line(); }

  /// False when the rest of the file is not ours to read.
  bool read_header() {
    const char* line = library_.next_line();
    if (line == nullptr) {
      problems_.add(name_, 0, "the file is empty: no run was written to it");
      return false;
    }
    if (!damage_text(1).empty()) {
      problems_.add(name_, 1, "the first line is not text: not a syscost CSV");
      return false;
    }
    std::string fault = header_fault(line);
    if (fault.empty()) return true;
    const bool is_ours = std::string_view(line).starts_with("schema_version,");
    if (const char* row = is_ours ? library_.next_line() : nullptr; row != nullptr) {
      if (int version = version_of(row); version > schema::kSchemaVersion) {
        fault = fmt::format("schema version {}, but this bench reads version {}: use the bench of the newer syscost",
                            version, schema::kSchemaVersion);
      } else if (version > 0 && version < schema::kOldestSchemaVersion) {
        fault = fmt::format(
            "schema version {}, but this bench reads version {}: use the bench of the older syscost, "
            "or measure again",
            version, schema::kSchemaVersion);
      }
    } else if (!is_ours) {
      fault += " (is it the file given to --syscost_csv?)";
    }
    problems_.add(name_, 1, std::move(fault));
    return false;
  }

  void read_rows(const RowHandler& handle) {
    for (;;) {
      std::string fault;
      const std::uint64_t before = library_.get_file_line();
      bool is_end = false;
      try {
        is_end = !read_row(std::make_index_sequence<schema::kColumnCount>());
      } catch (const io::error::too_few_columns&) {
        fault = kTorn;
      } catch (const io::error::too_many_columns&) {
        fault =
            fmt::format("more than {} columns: not written by syscost, or two rows in one line", schema::kColumnCount);
      } catch (const io::error::escaped_string_not_closed&) {
        fault = "a quote is not closed on this line: torn, or a line break inside a field (syscost writes none)";
      }
      row_.line_ = library_.get_file_line();
      // Lines that the library skipped on the way to this one, or to the end.
      for (std::uint64_t line = before + 1; line < row_.line_ + (is_end ? 1 : 0); ++line) {
        std::string damage = damage_text(line);
        problems_.add(name_, line, damage.empty() ? kTorn : std::move(damage));
      }
      if (is_end) return;
      if (std::string damage = damage_text(row_.line_); !damage.empty()) fault = std::move(damage);
      if (fault.empty() && row_.text(schema::Column::kEnd) != schema::kEndMark) fault = kTorn;
      if (fault.empty() && is_header(row_)) fault = kSecondHeader;
      if (fault.empty()) fault = handle(row_);
      if (!fault.empty()) problems_.add(name_, row_.line_, std::move(fault));
    }
  }

 private:
  /// What GuardedSource found wrong with a line; "" when nothing, or nothing that matters.
  std::string damage_text(std::uint64_t line) const {
    switch (damage_->at(line)) {
      case Damage::too_long:
        return fmt::format("longer than {} bytes: not written by syscost", kMaxLineBytes);
      case Damage::has_nul:
        return "holds NUL bytes: damaged, or not text";
      case Damage::endless:
        return fmt::format("longer than {} MiB: not written by syscost; what follows is not read",
                           kEndlessLineBytes >> 20U);
      case Damage::not_closed:
      case Damage::none:
        break;
    }
    return {};
  }

  template <std::size_t... I>
  bool read_row(std::index_sequence<I...> /*columns*/) {
    return library_.read_row(row_.cells_[I]...);
  }

  const std::string& name_;
  Problems& problems_;
  std::shared_ptr<LineDamage> damage_;
  Library library_;
  Row row_;
};

ReadEnd read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
                 bool has_header) {
  ReadEnd end;
  try {
    RowReader reader(name, std::move(bytes), problems);
    if (has_header && !reader.read_header()) return end;
    end.is_ours = true;
    reader.read_rows(handle);
    end.lines = reader.lines();
  } catch (const std::system_error& error) {
    problems.add(name, 0, fmt::format("cannot be read: {}", error.code().message()));
  } catch (const io::error::base& error) {
    // Nothing is known to come here; a fault of the library must still end in a message, not in terminate().
    problems.add(name, 0, fmt::format("the CSV library gave up: {}", error.what()));
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

}  // namespace syscost::bench::csv
