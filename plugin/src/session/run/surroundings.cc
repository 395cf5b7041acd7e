// SPDX-License-Identifier: MIT
#include "session/run/run_info.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "os/environment.h"
#include "os/files.h"
#include "syscost/schema.h"

namespace syscost::session {
namespace {

std::string libc() {
#ifdef __GLIBC__
  return std::string("glibc ") + gnu_get_libc_version();
#else
  return {};
#endif
}

std::string processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};  // more than 1024 of them
  return std::to_string(CPU_COUNT(&allowed));
}

std::string folder_depth() {
  std::array<char, PATH_MAX> folder{};
  return getcwd(folder.data(), folder.size()) == nullptr ? std::string() : std::to_string(depth_of(folder.data()));
}

std::string limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit found{};
  if (getrlimit(resource, &found) != 0) return {};
  return found.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(found.rlim_cur);
}

/// libc and GoogleTest write to a terminal line by line; a file, a pipe and /dev/null are alike.
std::string output() {
  return isatty(STDOUT_FILENO) == 1 ? "terminal" : "no terminal";
}

/// The chosen word of `always [madvise] never`.
std::string huge_pages() {
  const std::string text = read_small_file("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  return begin == std::string::npos || end < begin ? std::string() : text.substr(begin + 1, end - begin - 1);
}

/// Variables for frameworks and for syscost do not count: they differ from run to run.
std::string environment_size() {
  std::uint64_t bytes = 0;
  for (const std::string& entry : environment_to_pass_on()) {
    const auto begins = [&](std::string_view prefix) { return entry.starts_with(prefix); };
    if (!begins("SYSCOST_") && !begins("GTEST_") && !begins("BENCHMARK_")) bytes += entry.size() + 1;
  }
  return size_class(bytes);
}

/// The value of the first of the variables that is set and not empty; else "none".
std::string first_variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = variable(name); value != nullptr && *value != '\0') return value;
  }
  return "none";
}

/// The value of an option of Catch2, which may be a word of its own, or follow `=` or `:`. The last one counts.
std::string value_of(const std::vector<std::string>& arguments, std::string_view option) {
  std::string value;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view one = arguments[i];
    if (!one.starts_with(option)) continue;
    const std::string_view rest = one.substr(option.size());
    if (rest.empty() && i + 1 < arguments.size()) value = arguments[i + 1];
    if (rest.starts_with('=') || rest.starts_with(':')) value = rest.substr(1);
  }
  return value;
}

/// A baseline, which people commit, remembers the value: it need not say where somebody's home is.
std::string preloaded() {
  return file_names_of(first_variable({"LD_PRELOAD"}));
}

/// Long enough for each value that says something. bench prints two of them in one line.
std::string shortened(std::string value) {
  constexpr std::size_t kLongest = 200;
  if (value.size() <= kLongest) return value;
  const std::string bytes = std::to_string(value.size());
  value.resize(kLongest);
  return value + "... (" + bytes + " bytes)";
}

}  // namespace

std::string file_names_of(std::string_view libraries) {
  constexpr std::string_view kBetween = " :";
  constexpr std::string_view kOfBenchRun = "libsyscost-preload.so";
  std::string names;
  while (!libraries.empty()) {
    std::string_view one = libraries.substr(0, libraries.find_first_of(kBetween));
    libraries.remove_prefix(std::min(libraries.size(), one.size() + 1));
    one.remove_prefix(one.rfind('/') + 1);  // npos + 1 = 0
    if (one == kOfBenchRun) continue;
    if (!one.empty() && !names.empty()) names += ':';
    names += one;
  }
  return names;
}

std::string size_class(std::uint64_t bytes) {
  std::uint64_t kibibytes = 1;
  while (kibibytes * 1024 < bytes) kibibytes *= 2;
  return std::to_string(kibibytes) + " KiB";
}

std::uint64_t depth_of(const std::string& folder) {
  return folder == "/" ? 0 : static_cast<std::uint64_t>(std::count(folder.begin(), folder.end(), '/'));
}

Surroundings read_surroundings() {
  Surroundings all = {{"libc", libc()},
                      {"cpus", processors()},
                      {"user", geteuid() == 0 ? "root" : "other"},
                      {"folder_depth", folder_depth()},
                      {"environment", environment_size()},
                      {"open_files", limit(RLIMIT_NOFILE)},
                      {"stack", limit(RLIMIT_STACK)},
                      {"page", std::to_string(sysconf(_SC_PAGESIZE))},
                      {"huge_pages", huge_pages()},
                      {"output", output()}};
  // A program with more rights than its caller leaves the caller's variables alone.
  if (!has_more_rights_than_caller()) {
    all.emplace_back("locale", first_variable({"LC_ALL", "LC_CTYPE", "LANG"}));
    all.emplace_back("time_zone", first_variable({"TZ"}));
    all.emplace_back("preload", preloaded());
    all.emplace_back("tunables", first_variable({"GLIBC_TUNABLES", "MALLOC_ARENA_MAX"}));
  }
  std::erase_if(all, [](const auto& one) { return one.second.empty(); });
  return all;
}

std::string shard_of(std::string_view framework, const std::vector<std::string>& arguments) {
  std::string index, total;
  if (framework == "GoogleTest") {
    const auto text = [](const char* value) { return value != nullptr ? value : ""; };
    index = text(variable("GTEST_SHARD_INDEX"));
    total = text(variable("GTEST_TOTAL_SHARDS"));
  } else if (framework == "Catch2") {
    index = value_of(arguments, "--shard-index");
    total = value_of(arguments, "--shard-count");
  }
  if (index.empty() || total.empty()) return {};
  // Both frameworks end the program where the two are no numbers, or the first is not below the second.
  const long number = std::strtol(index.c_str(), nullptr, 10);
  const long all = std::strtol(total.c_str(), nullptr, 10);
  return all > 1 && number >= 0 && number < all ? std::to_string(number + 1) + " of " + std::to_string(all) : "";
}

std::string to_text(const Surroundings& surroundings) {
  std::string text;
  for (const auto& [name, given] : surroundings) {
    if (!text.empty()) text += ';';
    text += name + '=';
    const std::string value = name == schema::kFactProgramPath ? given : shortened(given);
    std::replace_copy(value.begin(), value.end(), std::back_inserter(text), ';', ',');
  }
  return text;
}

}  // namespace syscost::session
