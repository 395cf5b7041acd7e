// SPDX-License-Identifier: MIT
#include "bench_run/end_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace syscost::bench_run {
namespace {

int g_report = -1;

void report(std::string line) {
  if (g_report < 0) return;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  for (std::string_view left = line; !left.empty();) {
    const ssize_t written = write(g_report, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool open_end_report(std::string_view number) {
  int file = -1;
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), file);
  if (error != std::errc() || rest != number.data() + number.size() || file <= STDERR_FILENO) return false;
  if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0) return false;
  g_report = file;
  return true;
}

void report_refused(const std::string& why) {
  report("refused " + why);
}

void report_command(int status) {
  report("command " + std::to_string(status));
}

}  // namespace syscost::bench_run
