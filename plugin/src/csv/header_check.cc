// SPDX-License-Identifier: MIT
#include "csv/header_check.h"

#include <unistd.h>

#include <cerrno>

#include "csv/row.h"
#include "os/printable.h"
#include "syscost/schema.h"

namespace syscost::csv {
namespace {

/// Takes the text up to the next comma off `line`.
std::string_view take_column(std::string_view& line) {
  std::string_view column = line.substr(0, line.find(','));
  line.remove_prefix(column.size() + (column.size() < line.size() ? 1 : 0));
  return column;
}

/// A file's own words, short and on one line.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown = printable(text.substr(0, kLongest));
  return text.size() > kLongest ? shown + "..." : shown;
}

}  // namespace

Result<HeaderState> check_header(int fd, const std::string& path) {
  // One byte more than our header, so that a longer first line shows.
  std::string start(header_line().size() + 1, '\0');
  std::size_t size = 0;
  while (size < start.size()) {
    const ssize_t count = pread(fd, start.data() + size, start.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_failure("read the CSV file", path, errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  start.resize(size);
  return check_header_text(start, path);
}

Result<HeaderState> check_header_text(std::string_view start, const std::string& path) {
  const std::string_view ours = header_line();
  if (start.starts_with(ours)) return HeaderState{};
  if (ours.starts_with(start)) return HeaderState{ours.substr(start.size())};

  std::string_view line = start.substr(0, start.find('\n'));
  if (line.substr(0, line.find(',')) != schema::kColumnNames[0]) {
    return Failure{path + " is not a syscost CSV: it begins with \"" + excerpt(line) + "\"",
                   "name another file, or move this one away; nothing was written to it"};
  }
  std::size_t number = 0;
  for (std::string_view expected : schema::kColumnNames) {
    ++number;
    std::string_view found = take_column(line);
    if (found == expected) continue;
    return Failure{path + " is a CSV of another syscost version: its column " + std::to_string(number) + " is \"" +
                       excerpt(found) + "\", this version (schema " + std::to_string(schema::kSchemaVersion) +
                       ") writes \"" + std::string(expected) + "\" there",
                   "name another file, or move this one away; nothing was written to it"};
  }
  return Failure{path + " is a CSV of another syscost version: it has more than our " +
                     std::to_string(schema::kColumnCount) + " columns",
                 "name another file, or move this one away; nothing was written to it"};
}

}  // namespace syscost::csv
