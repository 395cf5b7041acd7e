// SPDX-License-Identifier: MIT
#include "os/own_proc.h"

#include <unistd.h>

#include <array>
#include <charconv>

namespace syscost {

bool is_proc_ours() {
  std::array<char, 16> link{};
  const ssize_t length = readlink("/proc/self", link.data(), link.size());
  pid_t shown = 0;
  return length > 0 && std::from_chars(link.data(), link.data() + length, shown).ec == std::errc() && shown == getpid();
}

std::string proc_of(pid_t process) {
  if (process == getpid()) return "/proc/self";
  return is_proc_ours() ? "/proc/" + std::to_string(process) : std::string();
}

}  // namespace syscost
