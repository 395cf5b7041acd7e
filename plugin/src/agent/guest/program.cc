// SPDX-License-Identifier: MIT
#include "agent/guest/program.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
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

}  // namespace syscost::guest
