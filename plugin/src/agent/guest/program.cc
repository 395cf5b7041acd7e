// SPDX-License-Identifier: MIT
#include "agent/guest/program.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "agent/find/file_kind.h"

namespace syscost::guest {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): from the ELF headers
}

std::uintptr_t auxiliary(const std::uintptr_t* vector, std::uintptr_t type) {
  for (; vector[0] != AT_NULL; vector += 2) {
    if (vector[0] == type) return vector[1];
  }
  return 0;
}

}  // namespace

Program::Program(const Start& start) : stack_(at<const std::uintptr_t>(start.stack)) {
  const std::uintptr_t* word = stack_ + 1;
  if (*word != 0) name_ = at<const char>(*word);
  while (*word != 0) ++word;  // arguments
  ++word;
  while (*word != 0) ++word;  // the environment
  ++word;
  const auto* const headers = at<const ElfW(Phdr)>(auxiliary(word, AT_PHDR));
  headers_.assign(headers, headers + auxiliary(word, AT_PHNUM));
  for (const ElfW(Phdr) & one : headers_) {
    if (one.p_type == PT_PHDR) base_ = reinterpret_cast<std::uintptr_t>(headers) - one.p_vaddr;
  }
  // A static program may have no PT_PHDR: then its file says where its start is.
  const agent::FileView file("/proc/self/exe");
  if (file.has(0, 1, sizeof(ElfW(Ehdr)))) {
    base_ = auxiliary(word, AT_ENTRY) - reinterpret_cast<const ElfW(Ehdr)*>(file.bytes())->e_entry;
  }
  for (const ElfW(Phdr) & one : headers_) {
    if (one.p_type == PT_DYNAMIC) dynamic_ = at<const ElfW(Dyn)>(base_ + one.p_vaddr);
    if (one.p_type != PT_GNU_RELRO) headers_at_start_.push_back(one);
  }
}

dl_phdr_info Program::info() const {
  const std::vector<ElfW(Phdr)>& headers = is_past_relocation_ ? headers_ : headers_at_start_;
  dl_phdr_info info{};
  info.dlpi_addr = base_;
  info.dlpi_name = "";
  info.dlpi_phdr = headers.data();
  info.dlpi_phnum = static_cast<ElfW(Half)>(headers.size());
  return info;
}

/// As it stands in the file: without the base. 0 where there is none.
std::uintptr_t Program::dynamic_value(std::int64_t tag) const {
  for (const ElfW(Dyn)* one = dynamic_; one != nullptr && one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == tag) return one->d_un.d_val;
  }
  return 0;
}

/// Where a section of the program's file is in memory; 0 where the file does not say it.
std::uintptr_t Program::section(const char* name) const {
  const agent::FileView file("/proc/self/exe");
  if (!file.has(0, 1, sizeof(ElfW(Ehdr)))) return 0;
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file.bytes());
  if (header.e_shentsize != sizeof(ElfW(Shdr)) || header.e_shoff % alignof(ElfW(Shdr)) != 0 ||
      !file.has(header.e_shoff, header.e_shnum, sizeof(ElfW(Shdr))) || header.e_shstrndx >= header.e_shnum) {
    return 0;
  }
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(file.bytes() + header.e_shoff);
  const ElfW(Shdr)& names = sections[header.e_shstrndx];
  if (!file.has(names.sh_offset, names.sh_size, 1)) return 0;
  const std::string_view texts(file.bytes() + names.sh_offset, names.sh_size);
  for (int i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_name >= texts.size() || sections[i].sh_size < sizeof(std::uintptr_t)) continue;
    const std::string_view rest = texts.substr(sections[i].sh_name);
    if (rest.substr(0, rest.find('\0')) == name) return base_ + sections[i].sh_addr;
  }
  return 0;
}

/// True if a whole word at `address` lies in a part of this type, which has `flag`.
bool Program::is_within(std::uintptr_t address, std::uint32_t type, unsigned flag) const {
  return std::any_of(headers_.begin(), headers_.end(), [&](const ElfW(Phdr) & one) {
    const std::uintptr_t offset = address - (base_ + one.p_vaddr);
    const bool holds = offset < one.p_memsz && one.p_memsz - offset >= sizeof(std::uintptr_t);
    return one.p_type == type && (one.p_flags & flag) == flag && holds;
  });
}

/// Also where the page may only be read: it may so afterwards.
bool Program::write(std::uintptr_t address, std::uintptr_t value) const {
  const auto within = [&](std::uint32_t type, unsigned flag) { return is_within(address, type, flag); };
  const bool is_writable = within(PT_LOAD, PF_W) && !(is_past_relocation_ && within(PT_GNU_RELRO, 0));
  void* const page = at<void>(address & ~(kPageBytes - 1));
  if (!is_writable && mprotect(page, kPageBytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(at<void>(address), &value, sizeof value);
  return is_writable || mprotect(page, kPageBytes, PROT_READ | (within(PT_LOAD, PF_X) ? PROT_EXEC : 0)) == 0;
}

// The program, or its loader, will relocate the array of constructors after this. So what is changed is what the
// relocation will put there: the addend of the word's relocation, or the word itself where its relocation only adds the
// base.
bool Program::run_before_constructors(std::uintptr_t (*entrance)(std::uintptr_t), void (*hook)()) {
  const std::uintptr_t array = dynamic_value(DT_INIT_ARRAY);
  if (array == 0 || dynamic_value(DT_INIT_ARRAYSZ) < sizeof array) return false;
  if (!is_within(base_ + array, PT_LOAD, PF_R)) return false;
  const std::uintptr_t ours = entrance(reinterpret_cast<std::uintptr_t>(hook));
  const std::uintptr_t relocations = dynamic_value(DT_RELA);
  const std::size_t count = dynamic_value(DT_RELASZ) / sizeof(ElfW(Rela));
  auto* const all = at<ElfW(Rela)>(base_ + relocations);
  for (std::size_t i = 0; relocations != 0 && i < count; ++i) {
    if (all[i].r_offset != array) continue;
#if defined(__x86_64__)
    if (ELF64_R_TYPE(all[i].r_info) != R_X86_64_RELATIVE) return false;
#endif
    first_constructor_ = base_ + static_cast<std::uintptr_t>(all[i].r_addend);
    return write(reinterpret_cast<std::uintptr_t>(&all[i].r_addend), ours - base_);
  }
  const std::uintptr_t word = *at<const std::uintptr_t>(base_ + array);
  if (word == 0) return false;
  first_constructor_ = base_ + word;
  return write(base_ + array, ours - base_);
}

bool Program::run_after_destructors(std::uintptr_t (*entrance)(std::uintptr_t), void (*hook)()) {
  // They run from the last to the first.
  const std::uintptr_t in_file = dynamic_value(DT_FINI_ARRAY);
  const std::uintptr_t array = dynamic_ != nullptr ? (in_file != 0 ? base_ + in_file : 0) : section(".fini_array");
  if (array == 0 || (dynamic_ != nullptr && dynamic_value(DT_FINI_ARRAYSZ) < sizeof array)) return false;
  if (!is_within(array, PT_LOAD, PF_R)) return false;
  last_destructor_ = *at<const std::uintptr_t>(array);
  return write(array, entrance(reinterpret_cast<std::uintptr_t>(hook)));
}

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
