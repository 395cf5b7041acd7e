// SPDX-License-Identifier: MIT
#include "os/environment.h"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

// libc's own names of these variables; the program may define the others.
// NOLINTBEGIN(readability-redundant-declaration,bugprone-reserved-identifier,readability-identifier-naming): not
// everywhere in unistd.h
extern "C" char** __environ;
extern "C" char* __progname;
// NOLINTEND(readability-redundant-declaration,bugprone-reserved-identifier,readability-identifier-naming)

namespace syscost {
namespace {

/// They choose what the program prints, counts and names, and which files its caller's own rights open.
constexpr std::array<std::string_view, 3> kHarmlessPrefixes = {"SYSCOST_", "GTEST_", "BENCHMARK_"};
/// Where it runs, and the commit that CI systems name.
constexpr std::array<std::string_view, 11> kHarmlessNames = {"CI",
                                                             "NO_COLOR",
                                                             "TERM",
                                                             "KUBERNETES_SERVICE_HOST",
                                                             "LD_PRELOAD",  // looked at for valgrind's name only
                                                             "GITHUB_SHA",
                                                             "CI_COMMIT_SHA",
                                                             "BUILDKITE_COMMIT",
                                                             "CIRCLE_SHA1",
                                                             "GIT_COMMIT",
                                                             "BUILD_SOURCEVERSION"};
/// Its value is a library, which would run with the program's rights.
constexpr std::string_view kCupti = "SYSCOST_CUPTI";

/// Each of them opens, or changes, files that the caller may not.
constexpr std::array kFileCapabilities = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
                                          CAP_FSETID, CAP_MAC_OVERRIDE, CAP_MAC_ADMIN};

/// By the call, not by /proc, which a caller may have hidden.
std::uint64_t permitted_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return ~std::uint64_t{0};
  return std::uint64_t{sets[1].permitted} << 32 | sets[0].permitted;
}

std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

}  // namespace

bool has_more_rights_than_caller() {
  static const bool is_secure = getauxval(AT_SECURE) != 0;
  return is_secure;
}

bool is_harmless_variable(std::string_view name) {
  if (name == kCupti) return false;
  return std::any_of(kHarmlessPrefixes.begin(), kHarmlessPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kHarmlessNames.begin(), kHarmlessNames.end(), name) != kHarmlessNames.end();
}

const char* variable(const char* name) {
  return has_more_rights_than_caller() && !is_harmless_variable(name) ? nullptr : std::getenv(name);
}

std::vector<std::string> variables() {
  std::vector<std::string> entries = environment_to_pass_on();
  if (has_more_rights_than_caller()) {
    std::erase_if(entries, [](const std::string& entry) { return !is_harmless_variable(name_of(entry)); });
  }
  return entries;
}

const char* program_name() {
  return __progname != nullptr ? __progname : "";
}

std::vector<std::string> environment_to_pass_on() {
  // In blocks: what the heap is asked for must not depend on whether one more flag of ours is a variable.
  constexpr std::size_t kBlock = 64;
  std::size_t count = 0;
  while (__environ != nullptr && __environ[count] != nullptr) ++count;
  std::vector<std::string> entries;
  entries.reserve((count / kBlock + 1) * kBlock);
  for (char** entry = __environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::optional<Failure> reason_to_leave_files_alone(const FileRights& rights) {
  if (!rights.is_secure) return std::nullopt;
  const bool has_file_capability = std::any_of(kFileCapabilities.begin(), kFileCapabilities.end(), [&](int capability) {
    return (rights.permitted >> capability & 1) != 0;
  });
  if (!rights.has_other_ids && !has_file_capability) return std::nullopt;
  return Failure{std::string("this program may do more with files than the user who starts it (it ") +
                     (rights.has_other_ids ? "is setuid or setgid" : "has capabilities that override permissions") +
                     "), so syscost opens none for that user and measures nothing",
                 "run it as a user who has its rights (sudo), or give its file cap_bpf and cap_perfmon only: see "
                 "docs/security.md"};
}

FileRights file_rights() {
  FileRights rights;
  rights.is_secure = has_more_rights_than_caller();
  // The program may have made its ids equal since: the caller's are those that it was started with.
  rights.has_other_ids = getuid() != geteuid() || getgid() != getegid() || geteuid() != getauxval(AT_UID) ||
                         getegid() != getauxval(AT_GID);
  if (rights.is_secure) rights.permitted = permitted_capabilities();
  return rights;
}

}  // namespace syscost
