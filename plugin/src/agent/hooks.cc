// SPDX-License-Identifier: MIT
//
// libsyscost-agent.so: loaded by the preloaded part (preload.cc) into a program that holds a test framework.
#include "agent/hooks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "agent/common/variables.h"
#include "agent/find/classes.h"
#include "syscost/adapter.h"

namespace syscost::agent {

void refuse(const char* why, const char* remedy) {
  std::fflush(nullptr);  // what the program printed so far
  std::fprintf(stderr, "syscost: %s\n  fix: %s\n", why, remedy);
  _exit(2);
}

void leave_children_alone() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as POSIX says of dlsym
  if (auto* const stop = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "syscost_preload_stop")); stop != nullptr)
    stop();
  const char* const preload = getenv("LD_PRELOAD");
  const char* const ours = getenv(kPreloadVariable);
  if (preload == nullptr || ours == nullptr) return;
  std::string rest;
  for (const char* part = preload; *part != '\0';) {
    const std::size_t length = std::strcspn(part, ": ");
    const std::string path(part, length);
    if (length != 0 && path != ours) rest += (rest.empty() ? "" : ":") + path;
    part += length + (part[length] != '\0' ? 1 : 0);
  }
  if (rest.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", rest.c_str(), 1);
  }
  unsetenv(kPreloadVariable);
  unsetenv(kNotesVariable);
}

namespace {

/// Of a program that is linked with syscost::gtest: that adapter measures. It is known by a text of registration.cc,
/// which stripping leaves.
bool is_linked_with_syscost(const std::vector<Module>& modules) {
  for (const Module& module : modules) {
    static constexpr char kMark[] = "the one syscost::gtest was compiled for";
    if (find_bytes(module, kMark, sizeof kMark - 1) != nullptr) return true;
  }
  return false;
}

[[gnu::constructor]] void hook_frameworks() {
  if (!adapter::requested()) return;
  const std::vector<Module> modules = framework_modules();
  if (is_linked_with_syscost(modules)) return leave_children_alone();
  hook_gtest(modules);
  hook_catch2(modules);
  hook_doctest(modules);
}

}  // namespace
}  // namespace syscost::agent
