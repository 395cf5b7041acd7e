// SPDX-License-Identifier: MIT
#include "agent/guest/library_calls.h"

#include <dlfcn.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace syscost::guest {
namespace {

using Visit = int (*)(dl_phdr_info*, std::size_t, void*);

const Program* g_started_program = nullptr;

struct Visitor {
  Visit visit;
  void* context;
  bool has_shown_program = false;
};

int visit_next(dl_phdr_info* info, std::size_t size, void* context) {
  auto& visitor = *static_cast<Visitor*>(context);
  if (g_started_program == nullptr || visitor.has_shown_program) return visitor.visit(info, size, visitor.context);
  visitor.has_shown_program = true;
  dl_phdr_info program = g_started_program->info();
  program.dlpi_adds = info->dlpi_adds;
  program.dlpi_subs = info->dlpi_subs;
  if (const int result = visitor.visit(&program, size, visitor.context); result != 0) return result;
  // The guest itself, which has the program's place.
  dl_phdr_info guest = *info;
  guest.dlpi_name = "syscost-guest";
  return visitor.visit(&guest, size, visitor.context);
}

struct ExitFunction {
  void (*function)(int, void*) = nullptr;
  void* argument = nullptr;
};
std::array<ExitFunction, 16> g_exit_functions;
std::size_t g_exit_count = 0;

}  // namespace

void show_program(const Program& program) {
  g_started_program = &program;
  const char* const slash = std::strrchr(program.name(), '/');
  program_invocation_name = const_cast<char*>(program.name());
  program_invocation_short_name = const_cast<char*>(slash != nullptr ? slash + 1 : program.name());
}

void run_exit_functions() {
  while (g_exit_count != 0) {
    const ExitFunction one = g_exit_functions[--g_exit_count];
    one.function(0, one.argument);
  }
}

}  // namespace syscost::guest

#pragma GCC visibility push(default)
extern "C" {

/// Says to libc/symbols.h that these functions take the place of libc's.
extern const char syscost_guest_stands_for_libc;
const char syscost_guest_stands_for_libc = 1;

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's names are reserved
int dl_iterate_phdr(syscost::guest::Visit visit, void* context) {
  static const auto theirs =
      reinterpret_cast<int (*)(syscost::guest::Visit, void*)>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  syscost::guest::Visitor visitor{visit, context};
  return theirs(syscost::guest::visit_next, &visitor);
}

int on_exit(void (*function)(int, void*), void* argument) noexcept {
  using syscost::guest::g_exit_count;
  using syscost::guest::g_exit_functions;
  if (g_exit_count == g_exit_functions.size()) return -1;
  g_exit_functions[g_exit_count++] = {function, argument};
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
