// SPDX-License-Identifier: MIT
#include "late/late.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "late/stand_ins.h"
#include "late/stubs.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"

// This file is compiled in users' builds.

#ifndef __GLIBC__
#error "syscost knows glibc only: load_at_start() below takes the arguments that glibc gives to a constructor"
#endif

#ifndef SYSCOST_LIBRARY_FILE
#define SYSCOST_LIBRARY_FILE ""  // a package: it lies where the loader looks
#endif

// ---- the stubs ------------------------------------------------------------------------------------------------------

#define SYSCOST_STUB(name, stand_in) SYSCOST_STUB_TEXT(name)
__asm__(SYSCOST_SLOTS(syscost_late_slots)
#include "late/functions.inc"
            ".globl syscost_late_enter\n"
            ".hidden syscost_late_enter\n"
            ".type syscost_late_enter, @function\n"
            "syscost_late_enter:\n"
            "  .cfi_startproc\n"
            "  .cfi_adjust_cfa_offset 8\n"
            "  pushq %rax\n"
            "  pushq %rdi\n"
            "  pushq %rsi\n"
            "  pushq %rdx\n"
            "  pushq %rcx\n"
            "  pushq %r8\n"
            "  pushq %r9\n"
            "  pushq %r10\n"
            "  subq $128, %rsp\n"
            "  .cfi_adjust_cfa_offset 192\n"
            "  movups %xmm0, (%rsp)\n"
            "  movups %xmm1, 16(%rsp)\n"
            "  movups %xmm2, 32(%rsp)\n"
            "  movups %xmm3, 48(%rsp)\n"
            "  movups %xmm4, 64(%rsp)\n"
            "  movups %xmm5, 80(%rsp)\n"
            "  movups %xmm6, 96(%rsp)\n"
            "  movups %xmm7, 112(%rsp)\n"
            "  call syscost_late_load\n"
            "  movups (%rsp), %xmm0\n"
            "  movups 16(%rsp), %xmm1\n"
            "  movups 32(%rsp), %xmm2\n"
            "  movups 48(%rsp), %xmm3\n"
            "  movups 64(%rsp), %xmm4\n"
            "  movups 80(%rsp), %xmm5\n"
            "  movups 96(%rsp), %xmm6\n"
            "  movups 112(%rsp), %xmm7\n"
            "  addq $128, %rsp\n"
            "  popq %r10\n"
            "  popq %r9\n"
            "  popq %r8\n"
            "  popq %rcx\n"
            "  popq %rdx\n"
            "  popq %rsi\n"
            "  popq %rdi\n"
            "  popq %rax\n"
            "  .cfi_adjust_cfa_offset -192\n"
            "  ret\n"
            "  .cfi_endproc\n"
            ".size syscost_late_enter, . - syscost_late_enter\n");
#undef SYSCOST_STUB
#define SYSCOST_STUB(name, stand_in) SYSCOST_STAND_IN_TEXT(stand_in)
__asm__(SYSCOST_STAND_INS(syscost_late_stand_ins)
#include "late/functions.inc"
            SYSCOST_STAND_INS_END);
#undef SYSCOST_STUB

// NOLINTBEGIN(readability-identifier-naming): names of the linker's
extern "C" {
__attribute__((visibility("hidden"))) extern std::atomic<void*> syscost_late_slots[];
__attribute__((visibility("hidden"))) extern void* const syscost_late_stand_ins[];
__attribute__((visibility("hidden"), used)) void syscost_late_load();
/// Weak: in a program that calls what users call, that of early.cc takes its place. It is defined, because gold gives a
/// weak hidden symbol that is undefined an address.
__attribute__((weak, visibility("hidden"))) extern const syscost::late::Stubs syscost_late_early;
const syscost::late::Stubs syscost_late_early = {nullptr, nullptr, nullptr};
/// The same of faults.cc.
__attribute__((weak, visibility("hidden"))) extern const syscost::late::Stubs syscost_late_faults;
const syscost::late::Stubs syscost_late_faults = {nullptr, nullptr, nullptr};
}
// NOLINTEND(readability-identifier-naming)

// ---- loading --------------------------------------------------------------------------------------------------------

namespace {

constexpr const char* kSoname = "libsyscost.so.0";
constexpr std::size_t kStemLength = sizeof("libsyscost.so") - 1;

#define SYSCOST_STUB(name, stand_in) #name "\0"
/// In the order of the slots.
constexpr char kNames[] =
#include "late/functions.inc"
    ;
#undef SYSCOST_STUB

std::atomic<bool> g_is_loaded{false};
std::atomic<bool> g_is_filled{false};  // each slot has the library's function, or its stand-in
void (*g_at_load[4])() = {};
int g_at_load_count = 0;
pthread_once_t g_once = PTHREAD_ONCE_INIT;

bool g_is_asked = false;
const char* g_library_path = nullptr;  // LD_LIBRARY_PATH, as the program was started with it
char g_why[512];                       // the library cannot be loaded; empty while it can
const char* g_remedy = "";

void fail(const char* why, const char* remedy) {
  SYSCOST_LIBC(snprintf)(g_why, sizeof g_why, "%s", why);
  g_remedy = remedy;
}

/// libc's functions of the loader, by which the library is found and opened. Not by their names: before glibc 2.34 they
/// are in a library of their own, and the linker warns of dlopen() in each program that is linked statically, which has
/// none of them.
struct Loader {
  void* (*dlopen)(const char* file, int flags);
  void* (*dlsym)(void* handle, const char* name);
  char* (*dlerror)();
  int (*dlinfo)(void* handle, int request, void* into);
};

const Loader& loader() {
  static const Loader its = {reinterpret_cast<decltype(Loader::dlopen)>(syscost::libc::symbol("dlopen")),
                             reinterpret_cast<decltype(Loader::dlsym)>(syscost::libc::symbol("dlsym")),
                             reinterpret_cast<decltype(Loader::dlerror)>(syscost::libc::symbol("dlerror")),
                             reinterpret_cast<decltype(Loader::dlinfo)>(syscost::libc::symbol("dlinfo"))};
  return its;
}

/// -static and -static-pie: it needs no library.
bool is_linked_statically() {
  if (_DYNAMIC == nullptr || loader().dlsym == nullptr) return true;
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) return false;
  }
  return true;
}

void* open_file(const char* file, int more_flags = 0) {
  return loader().dlopen != nullptr ? loader().dlopen(file, RTLD_NOW | more_flags) : nullptr;
}

/// True where the program has the library as a dependency, or something in the program has loaded it.
bool is_library_there() {
  const auto is_ours = [](dl_phdr_info* object, std::size_t, void*) {
    const std::size_t folder_end = std::string_view(object->dlpi_name).rfind('/');
    // Some link the file with the whole version, libsyscost.so.0.1.0.
    return static_cast<int>(folder_end != std::string_view::npos &&
                            SYSCOST_LIBC(strncmp)(object->dlpi_name + folder_end + 1, kSoname, kStemLength) == 0);
  };
  return SYSCOST_LIBC(dl_iterate_phdr)(is_ours, nullptr) != 0;
}

/// A sanitizer that stands before dlopen() hides which program asks, and with that where the program says that its
/// libraries are.
void* open_beside_program_libraries() {
  void* const program = open_file(nullptr);
  Dl_serinfo sizes{};
  if (loader().dlinfo == nullptr || program == nullptr || loader().dlinfo(program, RTLD_DI_SERINFOSIZE, &sizes) != 0)
    return nullptr;
  auto* const folders = static_cast<Dl_serinfo*>(std::malloc(sizes.dls_size));
  if (folders == nullptr) return nullptr;
  void* library = nullptr;
  if (loader().dlinfo(program, RTLD_DI_SERINFOSIZE, folders) == 0 &&
      loader().dlinfo(program, RTLD_DI_SERINFO, folders) == 0) {
    for (unsigned i = 0; i < folders->dls_cnt && library == nullptr; ++i) {
      char path[4096];
      const int length = SYSCOST_LIBC(snprintf)(path, sizeof path, "%s/%s", folders->dls_serpath[i].dls_name, kSoname);
      if (length > 0 && static_cast<std::size_t>(length) < sizeof path) library = open_file(path);
    }
  }
  std::free(folders);
  return library;
}

/// The folders of LD_LIBRARY_PATH come before the path that the build wrote, as they do for a dependency.
void* open_in_library_path() {
  for (const char* folder = g_library_path; folder != nullptr && *folder != '\0';) {
    const std::size_t length = SYSCOST_LIBC(strcspn)(folder, ":;");
    char path[4096];
    const int size = SYSCOST_LIBC(snprintf)(path, sizeof path, "%.*s/%s", static_cast<int>(length), folder, kSoname);
    const bool is_file = length != 0 && size > 0 && static_cast<std::size_t>(size) < sizeof path &&
                         SYSCOST_LIBC(access)(path, R_OK) == 0;
    if (void* const library = is_file ? open_file(path) : nullptr) return library;
    folder += length;
    if (*folder != '\0') ++folder;
  }
  return nullptr;
}

/// The library in which dlsym() finds our functions. Never closed. Null after fail().
void* open_library() {
  if (is_linked_statically()) {
    fail("it is linked statically (-static or -static-pie)",
         "Link it dynamically to measure it; -static-libstdc++ and -static-libgcc may stay.");
    return nullptr;
  }
  // It may be there already, from another place. A second copy would count for itself, and only one copy can have what
  // dispatch needs.
  // Asked without need, the loader looks for the file in each folder of the system: 80 calls.
  if (void* const library = is_library_there() ? open_file(kSoname, RTLD_NOLOAD) : nullptr) return library;
  const bool has_more_rights = SYSCOST_LIBC(getauxval)(AT_SECURE) != 0;
  if (SYSCOST_LIBRARY_FILE[0] != '\0') {
    if (void* const library = has_more_rights ? nullptr : open_in_library_path()) return library;
    if (void* const library = open_file(SYSCOST_LIBRARY_FILE)) return library;
  }
  if (void* const library = open_file(kSoname)) return library;
  const char* const error = loader().dlerror();
  fail(error != nullptr ? error : "for a reason that the loader does not give",
       "Install syscost where the loader looks, or name its folder in LD_LIBRARY_PATH or with -Wl,-rpath.");
  // Not where the program has more rights than its user: what the loader refused there stays refused.
  void* const library = has_more_rights ? nullptr : open_beside_program_libraries();
  if (library != nullptr) g_why[0] = '\0';
  return library;
}

/// Calls `visit(name, slot, stand_in)` for each stub of the program.
/// True if the program has these stubs. A compiler may take the value of the weak object here for the one that counts,
/// as GCC 12 does where it initialises a const bool: so it is read through a pointer that the compiler does not know.
bool is_linked(const syscost::late::Stubs& stubs) {
  const syscost::late::Stubs* at = &stubs;
  __asm__("" : "+r"(at));
  return at->names != nullptr;
}

template <class Visit>
void for_each_stub(Visit visit) {
  const syscost::late::Stubs of_adapters = {kNames, syscost_late_slots, syscost_late_stand_ins};
  const syscost::late::Stubs* const all[] = {&of_adapters, &syscost_late_early, &syscost_late_faults};
  for (const syscost::late::Stubs* const stubs : all) {
    if (!is_linked(*stubs)) continue;
    std::atomic<void*>* slot = stubs->slots;
    void* const* stand_in = stubs->stand_ins;
    for (const char* name = stubs->names; *name != '\0'; name += std::strlen(name) + 1) {
      visit(name, *slot++, *stand_in++);
    }
  }
}

void load() {
  void* const library = open_library();
  if (library != nullptr) {
    for_each_stub([&](const char* name, std::atomic<void*>&, void*) {
      if (g_why[0] == '\0' && loader().dlsym(library, name) == nullptr) {
        fail(name, "It lacks this function: link the program and libsyscost of one version.");
      }
    });
  }
  const bool can_load = g_why[0] == '\0';
  if (!can_load && g_is_asked) syscost::late::refuse();
  for_each_stub([&](const char* name, std::atomic<void*>& slot, void* stand_in) {
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): without dlsym() no library was loaded
    slot.store(can_load ? loader().dlsym(library, name) : stand_in, std::memory_order_relaxed);
  });
  if (can_load && is_linked(syscost_late_faults)) syscost::adapter::expect_faults();
  g_is_loaded.store(can_load);
  g_is_filled.store(true);
  for (int i = 0; i < g_at_load_count; ++i) g_at_load[i]();
}

bool begins_with(const char* text, const char* beginning) {
  while (*beginning != '\0' && *beginning == *text) ++beginning, ++text;
  return *beginning == '\0';
}

/// Priority 101, the first that is free: a static object of the program's may measure already.
__attribute__((constructor(101))) void load_at_start(int argc, char** argv, char** environment) {
  bool is_asked = false;
  for (int i = 1; i < argc && !is_asked; ++i) is_asked = begins_with(argv[i], "--syscost");
  constexpr const char* kLibraryPath = "LD_LIBRARY_PATH=";
  for (; *environment != nullptr; ++environment) {
    if (begins_with(*environment, "SYSCOST_")) is_asked = true;
    if (begins_with(*environment, kLibraryPath)) g_library_path = *environment + std::strlen(kLibraryPath);
  }
  g_is_asked = is_asked;
  const bool is_used = is_linked(syscost_late_early) || is_linked(syscost_late_faults);
  if (is_asked || is_used || is_library_there()) syscost_late_load();
}

}  // namespace

void syscost_late_load() {
  SYSCOST_LIBC(pthread_once)(&g_once, load);
}

namespace syscost::late {

Absence absence() {
  return {g_why, g_remedy};
}

void refuse() {
  SYSCOST_LIBC(fprintf)(stderr, "syscost: %s cannot be loaded into this program: %s\n  %s\n", kSoname, g_why, g_remedy);
  using Note = bool(const char*, const char*);
  auto* const find = loader().dlsym;
  if (void* const note = find != nullptr ? find(RTLD_DEFAULT, "syscost_preload_note") : nullptr) {
    reinterpret_cast<Note*>(note)("refused", g_why);
  }
  for (;;) SYSCOST_LIBC(_exit)(2);  // exit handlers may measure, and would come here again
}

bool uses_faults() {
  return is_linked(syscost_late_faults);
}

bool is_loaded() {
  return g_is_loaded.load(std::memory_order_relaxed);
}

void at_load(void (*run)()) {
  if (g_is_filled.load()) return run();
  for (int i = 0; i < g_at_load_count; ++i) {
    if (g_at_load[i] == run) return;
  }
  if (g_at_load_count < 4) g_at_load[g_at_load_count++] = run;
}

bool may_be_asked(int argc, char** argv, const char* prefix) {
  if (is_loaded()) return true;
  for (int i = 1; i < argc; ++i) {
    if (!begins_with(argv[i], prefix)) return true;
  }
  return false;
}

}  // namespace syscost::late
