// SPDX-License-Identifier: MIT
#include "session/run_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "session/small_file.h"

namespace syscost::session {
namespace {

std::string proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

/// True when descriptor `number` of `pid` was opened as a sink opens its file. An editor, `tail -f` or a script that
/// reads the file does it otherwise.
bool is_sinks(pid_t pid, const std::string& number) {
  const std::string info = read_small_file(proc(pid) + "/fdinfo/" + number);
  const std::string field = "flags:";
  const std::size_t at = info.find(field);
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info.c_str() + at + field.size(), nullptr, 8);
  constexpr unsigned long kSinks = O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC;
  return (flags & kSinks) == kSinks;
}

/// True when `pid` appends rows to `file`. False also where its descriptors are nobody else's business.
bool is_measured_into(pid_t pid, const struct stat& file) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc(pid) + "/fd", error)) {
    struct stat open {};
    if (stat(entry.path().c_str(), &open) != 0 || open.st_dev != file.st_dev || open.st_ino != file.st_ino) continue;
    if (is_sinks(pid, entry.path().filename())) return true;
  }
  return false;
}

}  // namespace

pid_t parent_of(pid_t pid) {
  const std::string stat = read_small_file(proc(pid) + "/stat");
  // "PID (NAME) STATE PARENT ...": the name may hold anything, parentheses and blanks too.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || stat.size() < name_end + 5) return 0;
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + 4, nullptr, 10));
}

pid_t ctest_parent(pid_t pid) {
  const pid_t parent = parent_of(pid);
  return parent != 0 && read_small_file(proc(parent) + "/comm") == "ctest\n" ? parent : 0;
}

pid_t run_owner(const std::string& csv) {
  pid_t outermost = getpid();
  struct stat file {};
  if (!csv.empty() && stat(csv.c_str(), &file) == 0 && S_ISREG(file.st_mode)) {
    for (pid_t pid = parent_of(outermost); pid > 1; pid = parent_of(pid)) {
      if (is_measured_into(pid, file)) outermost = pid;
    }
  }
  const pid_t ctest = ctest_parent(outermost);
  return ctest != 0 ? ctest : outermost;
}

}  // namespace syscost::session
