// SPDX-License-Identifier: MIT
#include "csv_rows.h"

#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>

#include "csv/reader.h"

namespace conformance {
namespace {

namespace csv = syscost::bench::csv;
using syscost::schema::Column;

/// An empty cell is a number that the backend does not know.
std::uint64_t number(const csv::Row& row, Column column) {
  const std::string_view text = row.text(column);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int errno_of(const std::string& name) {
  constexpr int kLastErrno = 4095;
  constexpr std::string_view kNumbered = "errno_";
  if (name.rfind(kNumbered, 0) == 0) return std::stoi(name.substr(kNumbered.size()));
  for (int number = 1; number <= kLastErrno; ++number) {
    const char* const its = strerrorname_np(number);
    if (its != nullptr && name == its) return number;
  }
  return 0;
}

MeasuredRow row_of(const csv::Row& row) {
  MeasuredRow found;
  found.entries = number(row, Column::kEntries);
  found.calls = number(row, Column::kCalls);
  found.restarts = number(row, Column::kRestarts);
  found.in_flight = number(row, Column::kInFlight);
  found.no_return = number(row, Column::kNoReturn);
  found.carried_in = number(row, Column::kCarriedIn);
  found.denied = number(row, Column::kDenied);
  found.latencies = number(row, Column::kLatencyCount);
  if (!row.text(Column::kBytes).empty()) found.bytes = number(row, Column::kBytes);
  if (!row.text(Column::kBytesReleased).empty()) found.released = number(row, Column::kBytesReleased);
  if (!row.text(Column::kShortCalls).empty()) found.short_calls = number(row, Column::kShortCalls);
  std::istringstream errors{std::string(row.text(Column::kErrnos))};
  for (std::string one; errors >> one;) {
    const std::size_t colon = one.find(':');
    found.errors[errno_of(one.substr(0, colon))] += std::stoull(one.substr(colon + 1));
  }
  return found;
}

void add(const csv::Row& row, MeasuredWindow& window, std::vector<std::string>& problems) {
  if (row.text(Column::kRecord) == "test") {
    window.available = true;
    window.lost = number(row, Column::kLost);
    if (row.text(Column::kOutcome) != "passed") problems.emplace_back("a window's test did not pass");
    return;
  }
  const std::string name(row.text(Column::kSyscall));
  if (!window.rows.emplace(name, row_of(row)).second) problems.push_back("two rows are named " + name);
}

}  // namespace

Measured from_csv(const Case& one, const std::string& text) {
  Measured measured;
  csv::Problems faults;
  const auto take = [&](const csv::Row& row) -> std::string {
    if (row.text(Column::kKind) != "test") return {};
    for (const Window& window : one.windows) {
      if (row.text(Column::kTest) != "Conformance." + not_linked_test(window)) continue;
      add(row, measured.windows[window.name], measured.problems);
    }
    return {};
  };
  csv::read_csv_text("out.csv", text, take, faults);
  std::ostringstream said;
  faults.print(said);
  if (!faults.empty()) measured.problems.push_back(said.str());
  return measured;
}

}  // namespace conformance
