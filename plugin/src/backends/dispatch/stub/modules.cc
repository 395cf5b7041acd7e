// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/modules.h"

#include <elf.h>

#include <atomic>

#include "backends/dispatch/stub/cfi.h"
#include "backends/dispatch/stub/unwind.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

static_assert(kModules < Rule::kNoModule);

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// The public part of the loader's struct link_map.
struct LinkMap {
  std::uint64_t bias;
  std::uint64_t name;
};

/// Of a text of the loader; empty if it is gone. Its room may be larger than it is.
const char* copy_of(std::uint64_t name) {
  constexpr std::uint32_t kStep = 64;  // of one page
  char part[kStep];
  std::uint32_t bytes = 0;
  for (bool is_whole = false; !is_whole && bytes < kMaxModuleName;) {
    const std::uint64_t at = name + bytes;
    const std::uint64_t count = kStep - at % kStep;
    if (!copy_in(part, at, count)) return "";
    for (std::uint64_t i = 0; i < count && !is_whole && bytes < kMaxModuleName; ++i) {
      is_whole = part[i] == 0;
      if (!is_whole) ++bytes;
    }
  }
  auto* copy = static_cast<char*>(take_where_memory(bytes + 1));
  return copy != nullptr && copy_in(copy, name, bytes) ? copy : "";
}

/// The build id in the notes at `notes`.
void read_build_id(KnownModule& module, std::uint64_t notes, std::uint64_t bytes) {
  const std::uint64_t end = notes + bytes;
  const auto padded = [](std::uint64_t length) { return (length + 3) & ~std::uint64_t{3}; };
  constexpr int kMostNotes = 64;  // real files have three or four
  Elf64_Nhdr note;
  for (int i = 0; i < kMostNotes && notes + sizeof note <= end && read_user(notes, note); ++i) {
    const std::uint64_t name = notes + sizeof note;
    const std::uint64_t content = name + padded(note.n_namesz);
    constexpr std::uint32_t kGnu = 0x0055'4e47;
    std::uint32_t found = 0;
    const bool is_gnu =
        note.n_namesz == sizeof kGnu && name + sizeof kGnu <= end && read_user(name, found) && found == kGnu;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && content + note.n_descsz <= end && note.n_descsz <= kMaxBuildId) {
      if (copy_in(module.build_id, content, note.n_descsz)) module.build_id_bytes = note.n_descsz;
      return;
    }
    notes = content + padded(note.n_descsz);
  }
}

/// By the program headers, which are mapped with the file's beginning nearly always. What a program has made of that
/// memory, only the kernel knows.
void read_headers(KnownModule& module) {
  Elf64_Ehdr header;
  if (module.end - module.begin < sizeof header || !read_user(module.begin, header)) return;
  constexpr std::uint32_t kElf = 0x464c'457f;
  constexpr std::uint64_t kFirstPage = 4096;
  const std::uint64_t headers_end = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (read_at<std::uint32_t>(reinterpret_cast<std::uint64_t>(&header)) != kElf ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff >= kFirstPage || headers_end > kFirstPage) {
    return;
  }
  // The notes lie in a segment that is mapped from the file's beginning on, or not at all.
  std::uint64_t mapped_end = module.end;
  for (std::uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (!read_user(module.begin + header.e_phoff + i * sizeof part, part)) return;
    const bool is_first = part.p_type == PT_LOAD && module.bias + part.p_vaddr == module.begin;
    if (is_first && part.p_filesz < module.end - module.begin) mapped_end = module.begin + part.p_filesz;
    const std::uint64_t notes = module.bias + part.p_vaddr;
    if (part.p_type != PT_NOTE || module.build_id_bytes != 0) continue;
    if (notes < module.begin || notes > mapped_end || part.p_filesz > mapped_end - notes) continue;
    read_build_id(module, notes, part.p_filesz);
  }
}

}  // namespace

std::uint32_t module_of(const FoundObject& found) {
  WhereState& where = syscost_where_state;
  const auto map = reinterpret_cast<std::uint64_t>(found.link_map);
  const std::uint32_t known = load(where.modules_used);
  for (std::uint32_t i = 0; i < known && i < kModules; ++i) {
    const KnownModule& module = where.modules[i];
    if (load(module.is_ready) != 0 && module.begin == found.begin && module.link_map == map &&
        load(module.is_retired) == 0) {
      return i;
    }
  }
  // Two threads that see one first at the same time make two of it, which have the same name.
  if (known >= kModules) return Rule::kNoModule;
  const std::uint32_t index = std::atomic_ref(where.modules_used).fetch_add(1);
  if (index >= kModules) return Rule::kNoModule;
  KnownModule& module = where.modules[index];
  LinkMap link{};
  module.name = "";
  // The loader may have unloaded the file by now.
  if (read_user(map, link)) module.name = copy_of(link.name);
  module.begin = found.begin;
  module.end = found.end;
  module.bias = link.bias;
  module.link_map = map;
  read_headers(module);
  std::atomic_ref(module.is_ready).store(1, std::memory_order_release);
  return index;
}

void forget_code(std::uint64_t begin, std::uint64_t bytes) {
  WhereState& where = syscost_where_state;
  std::atomic_ref(where.memory_epoch).fetch_add(1);
  bool had_code = false;
  const std::uint32_t known = load(where.modules_used);
  for (std::uint32_t i = 0; i < known && i < kModules; ++i) {
    KnownModule& module = where.modules[i];
    if (load(module.is_ready) == 0 || load(module.is_retired) != 0) continue;
    if (module.begin >= begin + bytes || module.end <= begin) continue;
    std::atomic_ref(module.is_retired).store(1);
    had_code = true;
  }
  if (had_code) std::atomic_ref(where.code_epoch).fetch_add(1);
}

}  // namespace syscost::signal_safe
