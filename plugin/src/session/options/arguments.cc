// SPDX-License-Identifier: MIT
//
// The process's command line and environment, and facts about the run that follow from them.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "os/environment.h"
#include "os/files.h"
#include "session/options/options.h"
#include "session/process/first_uses.h"

namespace syscost::session {
namespace {

/// Never destroyed; null if the C library does not pass main()'s arguments to constructors.
const std::vector<std::string>* g_arguments = nullptr;

#ifdef __GLIBC__
/// A framework's main removes its flags from argv, and some sandboxes have no /proc. If something is requested, the
/// library is loaded before main() (late/late.h), so argv is still complete here. If it is loaded later, argv has what
/// main() left: fewer arguments than argc, then null. Priority 101, the first free one, because a user's static
/// initialiser may measure already.
__attribute__((constructor(101))) void keep_arguments(int argc, char** argv, char** /*environment*/) {
  if (argc > 0) g_arguments = new std::vector<std::string>(argv, std::find(argv, argv + argc, nullptr));
  if (g_arguments == nullptr || !is_listing_or_death_test(*g_arguments)) do_first_uses();
}
#endif

bool starts_true(std::string_view value) {
  return !value.empty() && value.front() != '0' && value.front() != 'f' && value.front() != 'F';
}

}  // namespace

void remove_arguments(int* argc, char** argv, const std::vector<std::size_t>& used) {
  std::size_t kept = 0;
  auto next = used.begin();
  for (std::size_t i = 0; i < static_cast<std::size_t>(*argc); ++i) {
    if (next != used.end() && *next == i) {
      ++next;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argv[kept] = nullptr;
  *argc = static_cast<int>(kept);
}

bool is_listing_or_death_test(const std::vector<std::string>& arguments) {
  constexpr std::string_view kListTests = "--gtest_list_tests";
  for (std::string_view argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--gtest_internal_run_death_test=")) return true;
    if (!argument.starts_with(kListTests)) continue;
    argument.remove_prefix(kListTests.size());
    if (argument.empty() || (argument.front() == '=' && starts_true(argument.substr(1)))) return true;
  }
  const char* value = variable("GTEST_LIST_TESTS");
  return value != nullptr && std::string_view(value) != "0";
}

std::vector<std::string> process_arguments() {
  if (g_arguments != nullptr) return *g_arguments;
  const std::string text = read_small_file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

std::vector<std::string> process_environment() {
  return variables();
}

}  // namespace syscost::session
