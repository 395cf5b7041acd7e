// SPDX-License-Identifier: MIT
//
// libsyscost-preload.so: what `bench run` puts into LD_PRELOAD. It goes into every program below, shells and compilers
// included, so it needs no library but libc and leaves at once where there is no test framework.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/common/listing.h"
#include "agent/common/variables.h"
#include "agent/exec/passing_on.h"
#include "agent/find/modules.h"

namespace {

using syscost::agent::Module;

/// The library beside this one. Empty where the name is too long.
struct Beside {
  explicit Beside(const char* name) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&syscost::agent::kFrameworkMarks), &info) == 0 ||
        info.dli_fname == nullptr)
      return;
    const char* const slash = std::strrchr(info.dli_fname, '/');
    if (slash == nullptr) return;
    const int length =
        std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(slash - info.dli_fname), info.dli_fname, name);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) path[0] = '\0';
  }
  char path[4096] = {};
};

/// `found`: gets the first mark of a framework.
bool holds_framework(const Module& module, void* found) {
  for (const char* const mark : syscost::agent::kFrameworkMarks) {
    if (find_bytes(module, mark, std::strlen(mark)) == nullptr) continue;
    *static_cast<const char**>(found) = mark;
    return false;
  }
  return true;
}

// Before the constructors of the program, after those of its libraries.
[[gnu::constructor]] void load_agent_into_test_program(int /*count*/, char** arguments, char** /*environment*/) {
  if (!syscost::agent::keep_what_is_passed_on()) return;
  const char* mark = nullptr;
  syscost::agent::for_each_module(holds_framework, &mark);
  if (mark == nullptr) return;
  const bool lists = syscost::agent::asks_for_list(arguments, mark);
  if (getenv(syscost::agent::kFilteredVariable) != nullptr) {
    const char* const name = arguments[0] != nullptr ? arguments[0] : "a program without a name";
    if (!lists) syscost::agent::note_unmeasured(syscost::agent::kNoteFiltered, name);
    return;
  }
  syscost::agent::note_tests(lists);
  const Beside agent("libsyscost-agent.so");
  if (agent.path[0] != '\0' && dlopen(agent.path, RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* const error = dlerror();
  syscost::agent::note_of_this_process(syscost::agent::kNoteRefused,
                                       error != nullptr ? error : "libsyscost-agent.so is not found");
  std::fprintf(stderr, "syscost: this program's tests cannot be measured: %s\n  fix: reinstall syscost\n",
               error != nullptr ? error : "libsyscost-agent.so is not found");
  _exit(2);
}

}  // namespace
