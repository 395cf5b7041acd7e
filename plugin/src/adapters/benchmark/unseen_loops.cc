// SPDX-License-Identifier: MIT
#include "adapters/benchmark/unseen_loops.h"

#include <benchmark/benchmark.h>
#include <link.h>

#include <cstddef>
#include <string_view>

#include "agent/find/relocations.h"
#include "libc/symbols.h"

namespace syscost::benchmark_adapter {
namespace {

/// What a loop calls, and what every main() does; and the hook that a loop calls in a library that is linked with us.
constexpr std::string_view kLoop = "_ZN9benchmark5State16StartKeepRunningEv";
constexpr std::string_view kStart = "_ZN9benchmark10InitializeEPiPPcPFvvE";
constexpr std::string_view kHooks = "__wrap__ZN9benchmark5State16StartKeepRunningEv";

/// True if a relocation of the loaded object names the symbol.
bool imports([[maybe_unused]] const dl_phdr_info& object, [[maybe_unused]] std::string_view name) {
#ifdef __LP64__
  return agent::read_relocations(object).any_of(
      [&](const ElfW(Rela)&, std::size_t, const char* symbol) { return symbol == name; });
#else  // other relocations
  return false;
#endif
}

/// True when a loaded shared library asks for `symbol`, and not for our hooks.
bool is_asked_for_unseen(std::string_view symbol) {
  struct Search {
    std::string_view symbol;
    bool found;
  } search{symbol, false};
  SYSCOST_LIBC(dl_iterate_phdr)
  (
      [](dl_phdr_info* object, std::size_t, void* result) {
        // The program itself has no name, and is linked with us.
        if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') return 0;
        auto& its = *static_cast<Search*>(result);
        if (!imports(*object, its.symbol) || imports(*object, kHooks)) return 0;
        its.found = true;
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace

bool may_have_unseen_loops() {
  return is_asked_for_unseen(kLoop);
}

const Unavailable* why_main_is_unseen() {
  static const Unavailable in_library{
      "these benchmarks are run by a main() in a shared library, past syscost",
      "link that library with syscost::benchmark as well, link libbenchmark_main as a static library, write "
      "BENCHMARK_MAIN(), or link syscost::benchmark_main"};
  static const Unavailable optimised{
      "no benchmark ran through syscost: Google Benchmark was compiled for optimisation at link time (-flto), and its "
      "functions are bound or inlined before the linker can give them to syscost",
      "compile Google Benchmark, not your benchmarks, without it: -fno-lto, or "
      "set_target_properties(benchmark PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)"};
  if (is_asked_for_unseen(kStart)) return &in_library;
  // Google Benchmark notes its program's name when it is initialised.
  return ::benchmark::BenchmarkReporter::Context::executable_name != nullptr ? &optimised : nullptr;
}

}  // namespace syscost::benchmark_adapter
