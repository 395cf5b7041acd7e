// SPDX-License-Identifier: MIT
#include "backends/seccomp/program_identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdint>
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

namespace {

/// Calls visit(line) for each line of a file, its start if it is long, until one returns true. True if one did.
template <class Visit>
bool find_line(const char* path, Visit visit) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 4096> room;
  std::array<char, 128> line;
  std::size_t length = 0;
  bool is_found = false;
  for (ssize_t got = 0; !is_found && (got = read(file, room.data(), room.size())) > 0;) {
    for (const char letter : std::string_view(room.data(), static_cast<std::size_t>(got))) {
      if (letter != '\n') {
        if (length < line.size() - 1) line[length++] = letter;
        continue;
      }
      if (visit(std::string_view(line.data(), length))) {
        is_found = true;
        break;
      }
      length = 0;
    }
  }
  close(file);
  return is_found;
}

}  // namespace

ProgramImage::ProgramImage(const void* memory) {
  if (memory == nullptr) return;
  std::array<char, 24> start{};
  char* end = std::to_chars(start.data(), start.data() + 16, reinterpret_cast<std::uintptr_t>(memory), 16).ptr;
  *end++ = '-';
  const std::string_view wanted(start.data(), static_cast<std::size_t>(end - start.data()));
  find_line("/proc/self/maps", [&](std::string_view line) {
    if (!line.starts_with(wanted)) return false;
    std::copy(line.begin(), line.end(), line_.begin());  // the rest is zero
    return true;
  });
}

bool ProgramImage::is_of(pid_t process) const {
  const std::string_view wanted(line_.data());
  if (wanted.empty()) return false;
  std::array<char, 40> path{"/proc/"};
  char* const number = path.data() + std::string_view(path.data()).size();
  constexpr std::string_view kMaps = "/maps";
  std::copy(kMaps.begin(), kMaps.end(), std::to_chars(number, number + 12, process).ptr);
  return find_line(path.data(), [&](std::string_view line) { return line == wanted; });
}

}  // namespace syscost::seccomp
