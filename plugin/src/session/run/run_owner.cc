// SPDX-License-Identifier: MIT
#include "session/run/run_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "os/environment.h"
#include "os/own_proc.h"
#include "os/paths.h"
#include "os/small_file.h"

namespace syscost::session {
namespace {

/// True if descriptor `number` of `pid` was opened with the flags of our sink. An editor, `tail -f` or a script that
/// reads the file uses other flags.
bool is_sinks(pid_t pid, const std::string& number) {
  const std::string info = read_small_file(proc_of(pid) + "/fdinfo/" + number);
  const std::string field = "flags:";
  const std::size_t at = info.find(field);
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info.c_str() + at + field.size(), nullptr, 8);
  constexpr unsigned long kSinks = O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC;
  return (flags & kSinks) == kSinks;
}

/// True if `pid` appends rows to `file`. False also if we may not read its descriptors.
bool is_measured_into(pid_t pid, const struct stat& file) {
  const std::string folder = proc_of(pid) + "/fd/";
  for (const std::string& number : names_in(folder)) {
    struct stat open {};
    if (stat((folder + number).c_str(), &open) != 0 || open.st_dev != file.st_dev || open.st_ino != file.st_ino)
      continue;
    if (is_sinks(pid, number)) return true;
  }
  return false;
}

/// True when `pid` was started with that SYSCOST_CSV.
bool was_given(pid_t pid, const char* csv) {
  std::string environment(1, '\0');
  environment += read_small_file(proc_of(pid) + "/environ");
  std::string wanted(1, '\0');
  wanted.append("SYSCOST_CSV=").append(csv).push_back('\0');
  return environment.find(wanted) != std::string::npos;
}

/// What asked `pid` for rows: SYSCOST_CSV and --syscost_csv, as it was started with them.
std::string requests_of(pid_t pid) {
  std::string found;
  const auto add_words = [&](const std::string& file, std::string_view begin) {
    const std::string words = read_small_file(proc_of(pid) + file);
    for (std::size_t at = 0; at < words.size();) {
      const std::string_view word(words.c_str() + at);
      if (word.substr(0, begin.size()) == begin) found.append(word).push_back('\0');
      at += word.size() + 1;
    }
  };
  add_words("/environ", "SYSCOST_CSV=");
  add_words("/cmdline", "--syscost_csv");
  return found;
}

/// True for the parent of a worker: a main may fork for each of its suites, or start itself, and run no test itself.
bool is_same_program(pid_t worker, pid_t parent) {
  struct stat one {};
  struct stat other {};
  return stat((proc_of(worker) + "/exe").c_str(), &one) == 0 && stat((proc_of(parent) + "/exe").c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino && requests_of(worker) == requests_of(parent);
}

}  // namespace

pid_t parent_of(pid_t pid) {
  // As this process knows its parent: /proc may be that of another PID namespace.
  if (pid == getpid()) return getppid();
  const std::string stat = read_small_file(proc_of(pid) + "/stat");
  // "PID (NAME) STATE PARENT ...": the name may hold anything, parentheses and blanks too.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || stat.size() < name_end + 5) return 0;
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + 4, nullptr, 10));
}

pid_t ctest_parent(pid_t pid) {
  const pid_t parent = parent_of(pid);
  return parent != 0 && read_small_file(proc_of(parent) + "/comm") == "ctest\n" ? parent : 0;
}

pid_t ctest_ancestor(pid_t pid) {
  if (const pid_t ctest = ctest_parent(pid); ctest != 0) return ctest;
  // If a script chose another file, or another folder for a relative name, this is not ctest's run.
  const char* const csv = variable("SYSCOST_CSV");
  if (csv == nullptr) return 0;
  for (pid = parent_of(pid); pid > 1; pid = parent_of(pid)) {
    const pid_t ctest = ctest_parent(pid);
    if (ctest != 0) return was_given(ctest, csv) ? ctest : 0;
  }
  return 0;
}

pid_t run_owner(const std::string& csv) {
  pid_t outermost = getpid();
  struct stat file {};
  if (!csv.empty() && stat(csv.c_str(), &file) == 0 && S_ISREG(file.st_mode)) {
    for (pid_t pid = parent_of(outermost); pid > 1; pid = parent_of(pid)) {
      if (is_measured_into(pid, file)) outermost = pid;
    }
  }
  for (pid_t parent = parent_of(outermost); parent > 0 && is_same_program(outermost, parent);
       parent = parent_of(outermost)) {
    outermost = parent;
  }
  const pid_t ctest = ctest_ancestor(outermost);
  return ctest != 0 ? ctest : outermost;
}

}  // namespace syscost::session
