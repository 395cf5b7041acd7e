// SPDX-License-Identifier: MIT
//
// libsyscost-agent.so: loaded by the preloaded part (preload.cc) into a program that holds a test framework.
#include "agent/hooks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

#include "adapters/bodies/test_bodies.h"
#include "agent/find/classes.h"
#include "session/outside.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::agent {

void refuse(const char* why, const char* remedy) {
  std::fflush(nullptr);  // what the program printed so far
  adapter::say(std::string(why) + "\n  fix: " + remedy);
  outside::note_refused(why);
  _exit(2);
}

namespace {

/// Texts of our adapters, which stripping leaves: a program that is linked with one of them measures itself.
constexpr std::string_view kLinkedMarks[] = {
    "the one syscost::gtest was compiled for", "that library with syscost::benchmark as well",
    "this program links syscost::catch2, and", "this program links syscost::doctest, and"};

bool is_linked_with_syscost(const Modules& modules) {
  return std::any_of(modules.begin(), modules.end(), [](const Module& module) {
    return std::any_of(std::begin(kLinkedMarks), std::end(kLinkedMarks),
                       [&](std::string_view mark) { return find_bytes(module, mark.data(), mark.size()) != nullptr; });
  });
}

// glibc gives constructors the arguments of main().
[[gnu::constructor]] void hook_frameworks(int argc, char** argv) {
  outside::name_flags_of_bench_run();
  const bool is_counting = adapter::is_counting_process();  // of benchmarks; only those are run and counted in it
  if (!is_counting && !adapter::requested()) return;
  if (is_counting) {
    // The first process measures what main() starts before its benchmarks.
    auto* const stop = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "syscost_preload_stop_children"));
    if (stop != nullptr) stop();
  }
  const Modules modules = framework_modules();
  const char* const program = argc > 0 ? argv[0] : "";
  if (is_linked_with_syscost(modules)) return watch_unlinked_gtest(modules, program);
  if (auto* const its = static_cast<Worlds*>(dlsym(RTLD_DEFAULT, kWorldsSymbol)); its != nullptr) {
    set_worlds(*its);
    its->control = outside::process_control;
    // The program's exceptions cannot pass through our functions, and the other two frameworks end tests by them.
    hook_gtest(modules, program);
    return;
  }
  if (is_counting) {
    hook_benchmark(modules, argc, argv);
    return;
  }
  hook_gtest(modules, program);
  bodies_adapter::test_bodies().prepare({});
  catch2_adapter::hook(modules);
  doctest_adapter::hook(modules);
  hook_benchmark(modules, argc, argv);
}

}  // namespace
}  // namespace syscost::agent
