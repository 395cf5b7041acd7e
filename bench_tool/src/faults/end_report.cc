// SPDX-License-Identifier: MIT
#include "faults/end_report.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace syscost::bench::faults {

EndReport read_end_report(std::string_view text) {
  constexpr std::string_view kRefused = "refused ";
  constexpr std::string_view kCommand = "command ";
  EndReport report;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // its writer was killed
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.starts_with(kRefused)) {
      report.refusal = line.substr(kRefused.size());
    } else if (line.starts_with(kCommand)) {
      line.remove_prefix(kCommand.size());
      int status = 0;
      const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), status);
      if (error == std::errc() && rest == line.data() + line.size()) report.status = status;
    }
  }
  return report;
}

}  // namespace syscost::bench::faults
