// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/shares.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

#include "backends/ebpf/shared.h"
#include "os/files.h"

namespace syscost::ebpf {
namespace {

constexpr const char* kGroups = "/proc/thread-self/cgroup";

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

/// Where the kernel shows the limits of one hierarchy.
struct Hierarchy {
  std::string folder;  ///< Of the root group.
  std::string path;    ///< Of the group, below it.
  std::vector<const char*> limits;
};

/// Reads the lines "4:memory:/path" and "0::/path", which stand for the first and the second version.
std::vector<Hierarchy> hierarchies_with_limits(const std::string& root) {
  std::vector<Hierarchy> found;
  std::istringstream lines(read_small_file(root + kGroups));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        found.push_back({root + folder, path, {"memory.max", "memory.high"}});
      }
    } else if (controllers.find(",memory,") != std::string::npos) {
      found.push_back({root + "/sys/fs/cgroup/memory", path, {"memory.limit_in_bytes"}});
    }
  }
  return found;
}

}  // namespace

std::uint64_t own_surroundings(const std::string& root) {
  std::string all = read_small_file(root + kGroups);
  if (all.empty()) return 0;
  // A group's path begins at the root of the reader's namespace of groups.
  for (const char* name_space : {"/proc/self/ns/cgroup", "/proc/self/ns/pid", "/proc/self/ns/user"}) {
    struct stat found {};
    if (stat((root + name_space).c_str(), &found) != 0) found.st_ino = 0;
    all += std::to_string(found.st_ino) + '\n';
  }
  return std::max<std::uint64_t>(hash_of(all), 1);
}

std::optional<std::uint64_t> own_memory_limit(const std::string& root) {
  std::optional<std::uint64_t> least;
  for (const Hierarchy& hierarchy : hierarchies_with_limits(root)) {
    for (std::string path = hierarchy.path;;) {
      for (const char* file : hierarchy.limits) {
        const std::string text = read_small_file(hierarchy.folder + path + "/" + file);  // "max": none
        std::uint64_t limit = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), limit).ec != std::errc()) continue;
        least = std::min(least.value_or(limit), limit);
      }
      const std::size_t last = path.rfind('/');
      if (last == std::string::npos) break;
      path.resize(last);
    }
  }
  return least;
}

std::size_t places_of_a_guest(std::uint64_t memory_bytes, std::uint64_t map_bytes) {
  constexpr std::uint64_t kLeast = 4;
  constexpr std::uint64_t kMost = SYSCOST_PROCESSES / 4;
  return std::clamp(memory_bytes / 16 / std::max<std::uint64_t>(map_bytes, 1), kLeast, kMost);
}

std::size_t places_within(std::uint64_t limit_bytes, std::uint64_t map_bytes) {
  return std::min<std::uint64_t>(limit_bytes / 2 / std::max<std::uint64_t>(map_bytes, 1), SYSCOST_PROCESSES);
}

bool JoinRate::take(uid_t user, Clock::time_point now) {
  forget_the_rested(now);
  const auto [entry, is_new] = paid_at_.try_emplace(user, now);
  if (!is_new && next(user) > now) return false;
  entry->second += kInterval;
  return true;
}

JoinRate::Clock::time_point JoinRate::next(uid_t user) const {
  const auto entry = paid_at_.find(user);
  return entry == paid_at_.end() ? Clock::time_point::min() : entry->second - (kAtOnce - 1) * kInterval;
}

void JoinRate::forget_the_rested(Clock::time_point now) {
  std::erase_if(paid_at_, [&](const auto& entry) { return entry.second <= now; });
}

}  // namespace syscost::ebpf
