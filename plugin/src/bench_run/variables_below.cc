// SPDX-License-Identifier: MIT
#include "bench_run/variables_below.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "agent/common/variables.h"
#include "bench_run/own_options.h"
#include "bench_run/refusal.h"

namespace syscost::bench_run {
namespace {

/// AddressSanitizer's library ends a program where another one comes before it. Ours may: it replaces no function that
/// allocates.
void add_asan_order() {
  const char* const asan = getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS",
         (asan != nullptr && *asan != '\0' ? std::string(asan) + ":" + agent::kAsanOrder : agent::kAsanOrder).c_str(),
         1);
}

}  // namespace

std::string working_directory() {
  std::array<char, PATH_MAX> folder{};
  if (getcwd(folder.data(), folder.size()) != nullptr) return folder.data();
  refuse(std::string("the working directory has no path: ") + std::strerror(errno), "change to another one");
}

std::string set_variables(const std::vector<std::string>& options) {
  for (const Variable& variable : as_variables(options, working_directory())) {
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  }
  const char* const csv = getenv("SYSCOST_CSV");
  if (csv == nullptr || *csv == '\0') return {};
  // Programs below may have another working directory.
  std::string path = *csv != '/' ? working_directory() + "/" + csv : csv;
  setenv("SYSCOST_CSV", path.c_str(), 1);
  return path;
}

void set_run_id() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string id = std::string(host.data()) + "-" + std::to_string(getpid()) + "-" + std::to_string(now.tv_sec);
  setenv("SYSCOST_RUN_ID", id.c_str(), 0);
}

bool may_be_preloaded(const std::string& path) {
  if (path.find_first_of(" :") != std::string::npos) return false;
  for (const char* const name : {"$ORIGIN", "${ORIGIN}", "$LIB", "${LIB}", "$PLATFORM", "${PLATFORM}"}) {
    if (path.find(name) != std::string::npos) return false;
  }
  return true;
}

void set_preload(const std::string& folder) {
  const std::string ours = folder + "/libsyscost-preload.so";
  if (!may_be_preloaded(ours)) {
    refuse("syscost lies in " + folder +
               ", and LD_PRELOAD cannot hold a path with a blank, a colon, $ORIGIN, $LIB or $PLATFORM",
           "install it in a folder without them");
  }
  if (access(ours.c_str(), R_OK) != 0) refuse(ours + ": " + std::strerror(errno), "reinstall syscost");
  const char* const theirs = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", theirs != nullptr && *theirs != '\0' ? (ours + ":" + theirs).c_str() : ours.c_str(), 1);
  setenv(agent::kPreloadVariable, ours.c_str(), 1);
  add_asan_order();
}

void set_command_preload(const std::string& library, const std::string& memory) {
  const char* const theirs = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", theirs != nullptr && *theirs != '\0' ? (library + ":" + theirs).c_str() : library.c_str(), 1);
  setenv(agent::kCommandVariable, memory.c_str(), 1);
  add_asan_order();
}

void forget_variables() {
  std::vector<std::string> names;
  for (char** one = __environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with("SYSCOST_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace syscost::bench_run
