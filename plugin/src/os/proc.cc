// SPDX-License-Identifier: MIT
#include "os/proc.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "os/files.h"

namespace syscost {
namespace {

/// The numbers of a process, from the namespace of /proc inwards to its own: `NSpid:	4711	12	1`. None if
/// `status` has no such line (Linux before 4.1).
std::vector<pid_t> namespace_numbers(const std::string& status) {
  constexpr std::string_view kLine = "\nNSpid:";
  std::vector<pid_t> numbers;
  const std::size_t line = status.find(kLine);
  if (line == std::string::npos) return numbers;
  const char* at = status.data() + line + kLine.size();
  const char* const end = status.data() + status.size();
  for (; at != end && *at == '\t';) {
    pid_t number = 0;
    const auto [rest, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = rest;
  }
  return numbers;
}

}  // namespace

pid_t shown_number() {
  std::array<char, 16> link{};
  const ssize_t length = readlink("/proc/self", link.data(), link.size());
  pid_t shown = 0;
  if (length <= 0 || std::from_chars(link.data(), link.data() + length, shown).ec != std::errc()) return 0;
  return shown;
}

bool is_proc_ours() {
  return shown_number() == getpid();
}

std::string proc_of(pid_t process) {
  if (process == getpid()) return "/proc/self";
  return is_proc_ours() ? "/proc/" + std::to_string(process) : std::string();
}

pid_t own_number_of(pid_t shown) {
  if (is_proc_ours()) return shown;
  const std::size_t depth = namespace_numbers(read_small_file("/proc/self/status")).size();
  const std::vector<pid_t> numbers = namespace_numbers(read_small_file("/proc/" + std::to_string(shown) + "/status"));
  return depth == 0 || numbers.size() < depth ? 0 : numbers[depth - 1];
}

std::string start_time(pid_t process) {
  const std::string stat = read_small_file(proc_of(process) + "/stat");
  // Field 2 is the program's name in parentheses and may hold any character. So count from its end to field 22.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

std::string namespace_mark() {
  constexpr ino_t kFirst = 0xEFFFFFFC;  // PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h
  struct stat space {};
  const bool is_known = stat("/proc/self/ns/pid", &space) == 0;
  return is_known && space.st_ino != kFirst ? '-' + std::to_string(space.st_ino) : std::string();
}

std::optional<std::uint64_t> number_in_status(std::string_view status, std::string_view name) {
  const std::size_t line = status.find("\n" + std::string(name) + ":");
  if (line == status.npos) return std::nullopt;
  const std::size_t at = std::min(status.find_first_not_of(" \t", line + name.size() + 2), status.size());
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(status.data() + at, status.data() + status.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

Result<std::vector<int>> numbers_in(const char* folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listed(opendir(folder), closedir);
  if (listed == nullptr) return errno_failure("list", folder, errno);
  std::vector<int> numbers;
  const bool is_of_descriptors = std::string_view(folder).ends_with("/fd");
  while (const dirent* entry = readdir(listed.get())) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || rest != name.data() + name.size()) continue;
    if (!is_of_descriptors || number != dirfd(listed.get())) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

namespace {

/// The words of a line after the name in brackets, which may hold blanks.
std::vector<std::string_view> words_after_name(std::string_view line) {
  std::vector<std::string_view> words;
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == line.npos) return words;
  line.remove_prefix(end_of_name + 1);
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \n");
    if (begin == line.npos) break;
    line.remove_prefix(begin);
    const std::size_t length = std::min(line.find_first_of(" \n"), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return words;
}

}  // namespace

bool is_own_thread(int thread) {
  const std::string stat = read_small_file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::vector<std::string_view> words = words_after_name(stat);
  constexpr std::size_t kFlags = 6;          // field 9 of proc(5), of which two stand before the name's end
  if (words.size() <= kFlags) return false;  // it has ended
  unsigned flags = 0;
  std::from_chars(words[kFlags].data(), words[kFlags].data() + words[kFlags].size(), flags);
  return is_thread_of_program(flags);
}

Result<std::vector<int>> own_threads() {
  Result<std::vector<int>> threads = numbers_in("/proc/self/task");
  if (threads.ok()) std::erase_if(threads.value(), [](int thread) { return !is_own_thread(thread); });
  return threads;
}

}  // namespace syscost
