// SPDX-License-Identifier: MIT
#include "adapters/benchmark/unseen_loops.h"

#include <benchmark/benchmark.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace syscost::benchmark_adapter {
namespace {

/// What a loop calls, and what every main() does; and the hook that a loop calls in a library that is linked with us.
constexpr std::string_view kLoop = "_ZN9benchmark5State16StartKeepRunningEv";
constexpr std::string_view kStart = "_ZN9benchmark10InitializeEPiPPcPFvvE";
constexpr std::string_view kHooks = "__wrap__ZN9benchmark5State16StartKeepRunningEv";

/// The symbols that a loaded object looks up, as its relocations name them. (No table says how many symbols there are.)
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * relocations[2] = {nullptr, nullptr};  // of data and of calls
  std::size_t bytes[2] = {0, 0};

  bool has(std::string_view name) const {
    if (symbols == nullptr || names == nullptr) return false;
    for (int table = 0; table < 2; ++table) {
      const std::size_t count = relocations[table] != nullptr ? bytes[table] / sizeof(ElfW(Rela)) : 0;
      for (std::size_t i = 0; i < count; ++i) {
        const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocations[table][i].r_info)];
        if (names + symbol.st_name == name) return true;
      }
    }
    return false;
  }
};

#ifdef __LP64__
Imports imports_of(const dl_phdr_info& object) {
  Imports imports;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // glibc has added where the object lies already, except where the section cannot be written.
    std::uintptr_t address = dynamic->d_un.d_ptr;
    if (address < object.dlpi_addr) address += object.dlpi_addr;
    if (dynamic->d_tag == DT_SYMTAB) imports.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) imports.names = reinterpret_cast<const char*>(address);
    if (dynamic->d_tag == DT_RELA) imports.relocations[0] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (dynamic->d_tag == DT_JMPREL) imports.relocations[1] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (dynamic->d_tag == DT_RELASZ) imports.bytes[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_PLTRELSZ) imports.bytes[1] = dynamic->d_un.d_val;
  }
  return imports;
}
#else  // other relocations
Imports imports_of(const dl_phdr_info&) {
  return {};
}
#endif

/// True when a loaded shared library asks for `symbol`, and not for our hooks.
bool is_asked_for_unseen(std::string_view symbol) {
  struct Search {
    std::string_view symbol;
    bool found;
  } search{symbol, false};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        // The program itself has no name, and is linked with us.
        if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') return 0;
        auto& its = *static_cast<Search*>(result);
        const Imports imports = imports_of(*object);
        if (!imports.has(its.symbol) || imports.has(kHooks)) return 0;
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
