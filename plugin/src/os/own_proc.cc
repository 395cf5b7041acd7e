// SPDX-License-Identifier: MIT
#include "os/own_proc.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "os/small_file.h"

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

}  // namespace syscost
