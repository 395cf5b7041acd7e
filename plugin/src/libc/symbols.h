// SPDX-License-Identifier: MIT
//
// libc's own functions, also where the program defines a function of the same name.
//
// Tests replace libc's functions by definitions of their own: write(), clock_gettime(), getpid() and many more, in the
// program or in a library that is preloaded. The loader then gives the program's function to each library that refers
// to the name, and our calls would go to the fake. So we look the name up in the symbol table of libc itself, as the
// loader has mapped it. Nothing here calls a function, because the program may define that one, too.
//
// Used where our code is a part of the program (late, the adapters). Calls of our shared libraries need no care:
// names.cc.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

/// The module that this code is in. Weak: a program that is linked statically has none.
extern __attribute__((weak, visibility("hidden"))) ElfW(Dyn) _DYNAMIC[];  // NOLINT: the linker's name

// Each program and each library keeps its copy to itself.
#pragma GCC visibility push(hidden)
namespace syscost::libc {

inline bool is_same(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) ++one, ++other;
  return *one == *other;
}

/// An object that the loader has mapped, with the tables by which it finds symbols.
class Module {
 public:
  explicit Module(const link_map* map) : map_(map) {
    for (const ElfW(Dyn)* entry = map->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SONAME) name_ = entry;
      if (entry->d_tag == DT_STRTAB) strings_ = reinterpret_cast<const char*>(address(entry->d_un.d_ptr));
      if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address(entry->d_un.d_ptr));
      if (entry->d_tag == DT_VERSYM) versions_ = reinterpret_cast<const ElfW(Half)*>(address(entry->d_un.d_ptr));
      if (entry->d_tag == DT_GNU_HASH) hashes_ = reinterpret_cast<const std::uint32_t*>(address(entry->d_un.d_ptr));
    }
  }

  /// The name by which other modules ask the loader for this one.
  bool is_named(const char* name) const {
    return name_ != nullptr && strings_ != nullptr && is_same(strings_ + name_->d_un.d_val, name);
  }

  /// The address of `beginning` + `name`, in the version that new programs get; null if it is not defined here. Reads
  /// no more of the tables than the loader does when it looks up the name.
  void* find(const char* beginning, const char* name) const {
    if (hashes_ == nullptr || symbols_ == nullptr || strings_ == nullptr || hashes_[0] == 0) return nullptr;
    constexpr std::uint32_t kFirst = 5381;
    const std::uint32_t hash = add_to_hash(add_to_hash(kFirst, beginning), name);
    const std::uint32_t buckets = hashes_[0];
    const std::uint32_t first_symbol = hashes_[1];
    const std::uint32_t filters = hashes_[2];  // a power of two
    const auto* const filter = reinterpret_cast<const ElfW(Addr)*>(hashes_ + 4);
    constexpr std::uint32_t kBits = sizeof *filter * 8;
    const ElfW(Addr) bits = filter[(hash / kBits) & (filters - 1)];
    if (((bits >> (hash % kBits)) & (bits >> ((hash >> (hashes_[3] % 32)) % kBits)) & 1U) == 0) return nullptr;
    const std::uint32_t* const heads = hashes_ + 4 + filters * (sizeof *filter / sizeof *hashes_);
    const std::uint32_t* const chains = heads + buckets;
    std::uint32_t at = heads[hash % buckets];
    if (at < first_symbol) return nullptr;
    for (bool is_last = false; !is_last; ++at) {
      const std::uint32_t its_hash = chains[at - first_symbol];
      is_last = (its_hash & 1U) != 0;
      const ElfW(Sym)& symbol = symbols_[at];
      const bool is_old = versions_ != nullptr && (versions_[at] & 0x8000U) != 0;
      if ((its_hash | 1U) == (hash | 1U) && symbol.st_shndx != SHN_UNDEF && !is_old && is_it(symbol, beginning, name)) {
        return value_of(symbol);
      }
    }
    return nullptr;
  }

 private:
  static std::uint32_t add_to_hash(std::uint32_t hash, const char* text) {
    for (; *text != '\0'; ++text) hash = hash * 33 + static_cast<unsigned char>(*text);
    return hash;
  }
  bool is_it(const ElfW(Sym) & symbol, const char* beginning, const char* name) const {
    const char* text = strings_ + symbol.st_name;
    while (*beginning != '\0' && *beginning == *text) ++beginning, ++text;
    return *beginning == '\0' && is_same(text, name);
  }
  void* value_of(const ElfW(Sym) & symbol) const {
    void* const value = reinterpret_cast<void*>(map_->l_addr + symbol.st_value);  // NOLINT(performance-no-int-to-ptr)
    // A function that chooses among implementations for this processor.
    if ((symbol.st_info & 0xf) == STT_GNU_IFUNC) return reinterpret_cast<void* (*)()>(value)();
    return value;
  }
  /// The loader has added the base, unless the table cannot be written.
  void* address(ElfW(Addr) pointer) const {
    return reinterpret_cast<void*>(pointer < map_->l_addr ? map_->l_addr + pointer : pointer);  // NOLINT
  }

  const link_map* map_;
  const ElfW(Dyn) * name_ = nullptr;
  const char* strings_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const ElfW(Half) * versions_ = nullptr;
  const std::uint32_t* hashes_ = nullptr;
};

/// The loader's lists of modules, one for each namespace (dlmopen(3)).
struct Namespaces {
  r_debug its;
  const Namespaces* next;  ///< Since glibc 2.35, when there is a second one.
};

/// The same, as the program's own headers have it for debuggers. Makes system calls.
inline const Namespaces* namespaces_of_program() {
  const auto call = [](long number, long a, const void* b, std::size_t c) {
    long result = number;
    __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
  };
  constexpr std::size_t kMost = 64;
  ElfW(auxv_t) values[kMost] = {};
  const long file = call(SYS_openat, AT_FDCWD, "/proc/self/auxv", O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  call(SYS_read, file, values, sizeof values);
  call(SYS_close, file, nullptr, 0);
  const ElfW(Phdr)* headers = nullptr;
  std::size_t count = 0;
  for (const ElfW(auxv_t) & one : values) {
    if (one.a_type == AT_PHDR) headers = reinterpret_cast<const ElfW(Phdr)*>(one.a_un.a_val);  // NOLINT
    if (one.a_type == AT_PHNUM) count = one.a_un.a_val;
  }
  const ElfW(Phdr)* self = nullptr;
  const ElfW(Phdr)* dynamic = nullptr;
  for (std::size_t i = 0; headers != nullptr && i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) self = &headers[i];
    if (headers[i].p_type == PT_DYNAMIC) dynamic = &headers[i];
  }
  if (self == nullptr || dynamic == nullptr) return nullptr;
  const ElfW(Addr) base = reinterpret_cast<ElfW(Addr)>(headers) - self->p_vaddr;
  auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic->p_vaddr);  // NOLINT(performance-no-int-to-ptr)
  while (entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG) ++entry;
  return reinterpret_cast<const Namespaces*>(entry->d_tag == DT_DEBUG ? entry->d_un.d_ptr : 0);  // NOLINT
}

/// The first module of the namespace that this code is in; null in a program that is linked statically.
inline const link_map* first_module() {
  const Namespaces* loader = nullptr;
  // As assembler text: by a C++ name the program would get a copy of the loader's variable.
  __asm__(".weak _r_debug\n\tmovq _r_debug@GOTPCREL(%%rip), %0" : "=r"(loader));
  if (loader == nullptr || _DYNAMIC == nullptr) return nullptr;
  // Another module may define the name, too.
  if (loader->its.r_version <= 0 || loader->its.r_map == nullptr) loader = namespaces_of_program();
  if (loader == nullptr) return nullptr;
  constexpr int kHasNext = 2;
  for (const Namespaces* one = loader; one != nullptr; one = one->its.r_version >= kHasNext ? one->next : nullptr) {
    for (const link_map* map = one->its.r_map; map != nullptr; map = map->l_next) {
      if (map->l_ld == _DYNAMIC) return one->its.r_map;
    }
  }
  return loader->its.r_map;
}

/// The name of the module's file without its folders, as the loader has it; empty for the program. The loader's own
/// text is the only name that can be read for sure: the tables of a library may hold anything that the loader did not
/// need. But anyone may call a file libc.so.6.
inline const char* file_name(const link_map* map) {
  const char* name = map->l_name != nullptr ? map->l_name : "";
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at == '/') name = at + 1;
  }
  return name;
}

/// True if `text` begins with `beginning`, or is it.
inline bool begins_with(const char* text, const char* beginning) {
  while (*beginning != '\0' && *beginning == *text) ++beginning, ++text;
  return *beginning == '\0';
}

/// The library that the loader gives to who asks for `name`, and that defines `symbol`; null if there is none. Tables
/// of libraries in files of other names are read only if `in_any_file`.
inline const link_map* library(const char* name, const char* symbol, bool in_any_file = false) {
  for (const link_map* map = first_module(); map != nullptr; map = map->l_next) {
    if (!in_any_file && !is_same(file_name(map), name)) continue;
    const Module module(map);
    if (module.is_named(name) && module.find("", symbol) != nullptr) return map;
  }
  return nullptr;
}

/// libc. Its file has another name where a program is started with a libc of its own.
inline const link_map* libc_module() {
  constexpr const char* kName = "libc.so.6";
  constexpr const char* kSymbol = "gnu_get_libc_version";
  const link_map* const found = library(kName, kSymbol);
  return found != nullptr ? found : library(kName, kSymbol, true);
}

/// The runtime of a sanitizer is a part of the program, or a library: libasan.so.8, libclang_rt.tsan-x86_64.so.
inline bool may_be_sanitizer(const link_map* map) {
  const char* name = file_name(map);
  if (*name == '\0') return true;
  while (*name != '\0' && !begins_with(name, "san")) ++name;
  return *name != '\0';
}

/// Where the functions are that our calls go to. It does not change while the process lives, unless a module is
/// unloaded.
struct Places {
  const link_map* libc = nullptr;
  /// Mathematics, which is beside libc. And threads and the loader's functions, before glibc 2.34.
  const link_map* parts[3] = {};
  const link_map* sanitizer = nullptr;  ///< The one that has the runtime of a sanitizer.
  const link_map* guest = nullptr;      ///< syscost-guest, if this code is in its process.
};

inline Places find_places() {
  Places found;
  found.libc = libc_module();
  found.parts[0] = library("libm.so.6", "cbrt");
  found.parts[1] = library("libpthread.so.0", "pthread_create");
  found.parts[2] = library("libdl.so.2", "dlsym");
  const link_map* const program = first_module();
  if (program != nullptr && Module(program).find("syscost_guest_", "stands_for_libc") != nullptr) found.guest = program;
  for (const link_map* map = program; map != nullptr && found.sanitizer == nullptr; map = map->l_next) {
    if (may_be_sanitizer(map) && Module(map).find("__sanitizer_", "print_stack_trace") != nullptr) {
      found.sanitizer = map;
    }
  }
  return found;
}

/// The program has the runtime of a sanitizer.
inline bool has_sanitizer() {
  return find_places().sanitizer != nullptr;
}

/// The function `name` of libc; null in a program that is linked statically, or if libc lacks it. A sanitizer's own
/// function takes its place: it must see locks, forks and mappings. So does one of syscost-guest, which answers for the
/// program that it started. Thread-safe; signal-safe after the first call.
inline void* symbol(const char* name) {
  static std::atomic<int> g_state{0};  // 1: being written, 2: written
  static Places g_places;
  int expected = 0;
  if (g_state.load(std::memory_order_acquire) != 2 && g_state.compare_exchange_strong(expected, 1)) {
    g_places = find_places();
    g_state.store(2, std::memory_order_release);
  }
  const Places places = g_state.load(std::memory_order_acquire) == 2 ? g_places : find_places();
  if (places.guest != nullptr) {
    if (void* const found = Module(places.guest).find("", name)) return found;
  }
  if (places.sanitizer != nullptr) {
    if (void* const found = Module(places.sanitizer).find("__interceptor_", name)) return found;
  }
  if (places.libc == nullptr) return nullptr;
  if (void* const found = Module(places.libc).find("", name)) return found;
  for (const link_map* const part : places.parts) {
    if (void* const found = part != nullptr ? Module(part).find("", name) : nullptr) return found;
  }
  return nullptr;
}

inline void* symbol_or(const char* name, void* otherwise) {
  void* const found = symbol(name);
  // A call of one of the two, and not one call for each: a test looks for calls by libc's names.
  __asm__("" : "+r"(otherwise));
  return found != nullptr ? found : otherwise;
}

}  // namespace syscost::libc
#pragma GCC visibility pop

/// Another name for sources that are compiled into another namespace (late/absent.h).
namespace syscost_libc = syscost::libc;

/// libc's `name`, to be called: SYSCOST_LIBC(close)(fd). The program's where it is linked statically.
#define SYSCOST_LIBC(name) \
  (reinterpret_cast<decltype(&::name)>(::syscost_libc::symbol_or(#name, reinterpret_cast<void*>(&::name))))
