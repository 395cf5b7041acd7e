// SPDX-License-Identifier: MIT
#include "backends/seccomp/program_name.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <string_view>

namespace syscost::seccomp {
namespace {

template <std::size_t kSize>
std::string_view read_link(const char* path, std::array<char, kSize>& into) {
  const ssize_t length = readlink(path, into.data(), into.size());
  return {into.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// Returns the file's name at the end of a path from /proc.
std::string_view last_part(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

// Numbers of another namespace's /proc mean other processes.
ProgramNames::ProgramNames() {
  std::array<char, 16> link{};
  const std::string_view self = read_link("/proc/self", link);
  pid_t pid = 0;
  std::from_chars(self.data(), self.data() + self.size(), pid);
  is_proc_ours_ = pid == getpid();
}

ProgramName ProgramNames::of(std::int32_t thread) const {
  std::array<char, 40> link{"/proc/"};
  char* const number = link.data() + std::string_view(link.data()).size();
  char* const end = std::to_chars(number, number + 12, thread).ptr;
  constexpr std::string_view kExe = "/exe";
  std::copy(kExe.begin(), kExe.end(), end);  // the rest is zero

  std::array<char, PATH_MAX> path;
  std::string_view name = is_proc_ours_ ? last_part(read_link(link.data(), path)) : std::string_view();
  if (name.empty()) name = "unknown";
  ProgramName result{};
  name = name.substr(0, result.size() - 1);
  std::transform(name.begin(), name.end(), result.begin(),
                 [](char c) { return (c >= 0 && c < ' ') || c == 0x7f ? '?' : c; });
  return result;
}

}  // namespace syscost::seccomp
