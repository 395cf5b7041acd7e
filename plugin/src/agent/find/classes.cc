// SPDX-License-Identifier: MIT
#include "agent/find/classes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "libc/symbols.h"

namespace syscost::agent {
namespace {

constexpr int kMostSlots = 64;

std::uintptr_t address(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at);
}

bool is_code(const Modules& modules, std::uintptr_t at) {
  return std::any_of(modules.begin(), modules.end(), [&](const Module& module) { return module.has_code(at); });
}

/// Calls `visit` for each aligned word of the module's data. Vtables are constants in a program that is linked to one
/// address.
template <class Visit>
void for_each_word(const Module& module, Visit visit) {
  const bool has_constants_in_code = module.keeps_constants_in_code();
  for (const Span& span : module) {
    if (span.is_code && !has_constants_in_code) continue;
    const std::size_t skipped =
        (sizeof(std::uintptr_t) - address(span.begin) % sizeof(std::uintptr_t)) % sizeof(std::uintptr_t);
    const auto* word = reinterpret_cast<const std::uintptr_t*>(span.begin + skipped);
    for (; reinterpret_cast<const char*>(word + 1) <= span.end; ++word) visit(word, span);
  }
}

/// The words of the module's data that hold `value`.
std::vector<const std::uintptr_t*> holders(const Module& module, std::uintptr_t value) {
  std::vector<const std::uintptr_t*> found;
  for_each_word(module, [&](const std::uintptr_t* word, const Span&) {
    if (*word == value) found.push_back(word);
  });
  return found;
}

int count_slots(const Modules& modules, const std::uintptr_t* slots, const char* end) {
  int count = 0;
  while (count < kMostSlots && reinterpret_cast<const char*>(slots + count + 1) <= end &&
         is_code(modules, slots[count])) {
    ++count;
  }
  return count;
}

const char* end_of_data(const Module& module, const void* at) {
  for (const Span& span : module) {
    if (span.holds(address(at))) return span.end;
  }
  return static_cast<const char*>(at);
}

void add(std::vector<Vtable>& found, const Modules& modules, const Module& module, const std::uintptr_t* slots) {
  const bool is_known =
      std::any_of(found.begin(), found.end(), [&](const Vtable& known) { return known.slots == slots; });
  const int count = count_slots(modules, slots, end_of_data(module, slots));
  if (!is_known && count > 0) found.push_back({const_cast<std::uintptr_t*>(slots), count, &module});
}

const std::uintptr_t* begin_of_data(const Module& module, const void* at) {
  for (const Span& span : module) {
    if (span.holds(address(at))) return reinterpret_cast<const std::uintptr_t*>(span.begin);
  }
  return static_cast<const std::uintptr_t*>(at);
}

/// True if another word follows `word`, which lies in the data.
bool has_next(const Module& module, const std::uintptr_t* word) {
  return reinterpret_cast<const char*>(word + 2) <= end_of_data(module, word);
}

/// Where names of classes are.
bool is_read_only_data(const Modules& modules, std::uintptr_t at) {
  return std::any_of(modules.begin(), modules.end(), [&](const Module& module) {
    return std::any_of(module.begin(), module.end(),
                       [&](const Span& span) { return !span.is_writable && span.holds(at); });
  });
}

/// The word before the typeinfo of a primary vtable is the offset to the top of the object: 0.
void add_vtables_of(std::vector<Vtable>& found, const Modules& modules, std::uintptr_t typeinfo) {
  for (const Module& module : modules) {
    for (const std::uintptr_t* word : holders(module, typeinfo)) {
      if (word == begin_of_data(module, word) || !has_next(module, word)) continue;
      if (word[-1] == 0 && is_code(modules, word[1])) add(found, modules, module, word + 1);
    }
  }
}

/// Addresses of typeinfos: objects of two words or more, the second of which points to the class's name.
std::vector<std::uintptr_t> typeinfos(const Modules& modules, const char* name) {
  std::vector<std::uintptr_t> found;
  const std::size_t size = std::strlen(name) + 1;  // with the NUL
  for (const Module& module : modules) {
    for (const char* at = find_bytes(module, name, size); at != nullptr;
         at = find_bytes(module, name, size, at + size)) {
      // A program that is not position-independent has copies of a library's typeinfos, which point to the library's
      // names.
      for (const Module& holder : modules) {
        for (const std::uintptr_t* word : holders(holder, address(at))) found.push_back(address(word - 1));
      }
    }
  }
  return found;
}

/// `add $offset, %register`. Compilers write 128 as `sub $-128`.
bool adds(const unsigned char* code, std::uint32_t offset) {
  if (code[0] != 0x48) return false;
  const bool adds_byte = code[1] == 0x83 && (code[2] & 0xf8U) == 0xc0;
  if (adds_byte && offset < 128 && code[3] == offset) return true;
  if (code[1] == 0x83 && (code[2] & 0xf8U) == 0xe8 && code[3] == 0x80) return offset == 128;
  const int operand = code[1] == 0x05 ? 2 : code[1] == 0x81 && (code[2] & 0xf8U) == 0xc0 ? 3 : 0;
  return operand != 0 && std::memcmp(code + operand, &offset, sizeof offset) == 0;
}

/// True when the code calls the function in slot `slot` of an object: `call *8*slot(%register)`, or a jump. Without
/// optimisation gcc adds 8*slot to a register first.
bool calls_slot(const unsigned char* code, const unsigned char* end, int slot) {
  constexpr int kMostBytes = 400;
  const auto offset = static_cast<std::uint32_t>(slot) * 8;
  for (int i = 0; i < kMostBytes && code + 7 < end; ++i, ++code) {
    if (adds(code, offset)) return true;
    if (code[0] != 0xff) continue;
    const unsigned mode = code[1] & 0xf8U;
    const bool has_byte = (mode == 0x50 || mode == 0x60) && (code[1] & 7U) != 4;
    if (has_byte && offset < 128 && code[2] == offset) return true;
    if (mode != 0x90 && mode != 0xa0) continue;
    std::uint32_t displacement = 0;
    std::memcpy(&displacement, code + 2, sizeof displacement);
    if (displacement == offset) return true;
  }
  return false;
}

/// True when the code reads the byte after an object's vtable: `cmpb $0, 8(%register)` or `movzbl 8(%register), ...`.
/// The repeater asks there whether it forwards events, which other classes that pass calls on do not.
bool reads_switch(const unsigned char* code, const unsigned char* end) {
  constexpr int kMostBytes = 64;
  const auto is_its_byte = [](const unsigned char* operand) {
    return (operand[0] & 0xc0U) == 0x40 && (operand[0] & 7U) != 4 && operand[1] == sizeof(void*);
  };
  for (int i = 0; i < kMostBytes && code + 4 < end; ++i, ++code) {
    const bool compares = code[0] == 0x80 && (code[1] & 0x38U) == 0x38 && code[3] == 0;
    if (compares && is_its_byte(code + 1)) return true;
    if (code[0] == 0x0f && code[1] == 0xb6 && is_its_byte(code + 2)) return true;
  }
  return false;
}

bool passes_each_slot_on(const Module& module, const std::uintptr_t* slots, int count) {
  constexpr int kDestructors = 2;
  for (int i = kDestructors; i < count; ++i) {
    const auto code = std::find_if(module.begin(), module.end(),
                                   [&](const Span& span) { return span.is_code && span.holds(slots[i]); });
    if (code == module.end()) return false;
    const auto* const begin = reinterpret_cast<const unsigned char*>(slots[i]);  // NOLINT(performance-no-int-to-ptr)
    const auto* const end = reinterpret_cast<const unsigned char*>(code->end);
    if (!calls_slot(begin, end, i) || !reads_switch(begin, end)) return false;
  }
  return true;
}

/// The typeinfo that names its first base at `word`; 0 where it is none. With one base: its own vtable, the class's
/// name, the base. With several: its own vtable, the name, flags and how many, and for each the base and its place. The
/// first one's vtable is the class's own where it lies at the beginning of an object.
std::uintptr_t derived_typeinfo(const Modules& modules, const Module& module, const std::uintptr_t* word) {
  const auto before = word - begin_of_data(module, word);
  if (before >= 2 && is_read_only_data(modules, word[-1])) return address(word - 2);
  constexpr std::uintptr_t kMostFlags = 3;
  constexpr std::uintptr_t kMostBases = 64;
  if (before < 3 || !has_next(module, word) || !is_read_only_data(modules, word[-2])) return 0;
  const std::uintptr_t flags = word[-1] & 0xffffffff;
  const std::uintptr_t bases = word[-1] >> 32U;
  const std::uintptr_t offset = word[1] >> 8U;
  return flags <= kMostFlags && bases >= 1 && bases <= kMostBases && offset == 0 ? address(word - 3) : 0;
}

}  // namespace

Modules framework_modules() {
  Modules modules;
  for_each_module(
      [](const Module& module, void* into) {
        static_cast<Modules*>(into)->push_back(module);
        return true;
      },
      &modules);
  return modules;
}

std::vector<Vtable> vtables_by_typeinfo(const Modules& modules, const char* name) {
  std::vector<Vtable> found;
  for (const std::uintptr_t typeinfo : typeinfos(modules, name)) add_vtables_of(found, modules, typeinfo);
  return found;
}

std::vector<Vtable> vtables_of_derived(const Modules& modules, const char* name) {
  std::vector<Vtable> found;
  std::vector<std::uintptr_t> classes = typeinfos(modules, name);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    add_vtables_of(found, modules, classes[i]);
    for (const Module& module : modules) {
      for (const std::uintptr_t* word : holders(module, classes[i])) {
        const std::uintptr_t derived = derived_typeinfo(modules, module, word);
        if (derived == 0) continue;
        if (std::find(classes.begin(), classes.end(), derived) == classes.end()) classes.push_back(derived);
      }
    }
  }
  return found;
}

std::vector<Vtable> vtables_by_symbol(const Modules& modules, const char* name) {
  constexpr int kBeforeSlots = 2;  // the offset to the top, the typeinfo
  std::vector<Vtable> found;
  for (const Module& module : modules) {
    const std::uintptr_t at = find_symbol(module, name);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): from the file's symbols
    if (at != 0) add(found, modules, module, reinterpret_cast<const std::uintptr_t*>(at) + kBeforeSlots);
  }
  return found;
}

std::vector<Vtable> repeaters_by_shape(const Modules& modules) {
  constexpr int kLeast = 15;
  constexpr int kMost = 18;
  std::vector<Vtable> found;
  for (const Module& module : modules) {
    for_each_word(module, [&](const std::uintptr_t* word, const Span& span) {
      if (reinterpret_cast<const char*>(word + 3) > span.end || word[0] != 0 || word[1] != 0) return;
      if (!module.has_code(word[2])) return;
      const int count = count_slots(modules, word + 2, span.end);
      if (count >= kLeast && count <= kMost && passes_each_slot_on(module, word + 2, count))
        add(found, modules, module, word + 2);
    });
  }
  return found;
}

bool put(const Modules& modules, std::uintptr_t* slot, std::uintptr_t function) {
  const bool is_writable = std::any_of(modules.begin(), modules.end(),
                                       [&](const Module& module) { return module.has_writable(address(slot)); });
  if (is_writable) {
    *slot = function;
    return true;
  }
  void* const page = reinterpret_cast<void*>(address(slot) & ~(kPageBytes - 1));  // NOLINT(performance-no-int-to-ptr)
  // Code may lie on the page too, that of this function as well.
  const int rights = is_code(modules, address(slot)) ? PROT_READ | PROT_EXEC : PROT_READ;
  if (SYSCOST_LIBC(mprotect)(page, kPageBytes, rights | PROT_WRITE) != 0) return false;
  *slot = function;
  return SYSCOST_LIBC(mprotect)(page, kPageBytes, rights) == 0;
}

namespace {

const Worlds* g_worlds = nullptr;

}  // namespace

void set_worlds(const Worlds& worlds) {
  g_worlds = &worlds;
}

const Worlds* worlds() {
  return g_worlds;
}

void Overridden::keep(const Vtable& vtable) {
  const auto is_its = [&](const Table& table) { return table.slots == vtable.slots; };
  if (std::none_of(tables_.begin(), tables_.end(), is_its)) {
    tables_.push_back({vtable.slots, std::vector<std::uintptr_t>(vtable.slots, vtable.slots + vtable.count)});
  }
}

bool Overridden::put_in(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t function) {
  keep(vtable);
  return put(modules, vtable.slots + slot, worlds() != nullptr ? worlds()->entrance(function) : function);
}

bool Overridden::put_before(const Modules& modules, const Vtable& vtable, int slot, std::uintptr_t seen) {
  keep(vtable);
  return put(modules, vtable.slots + slot, worlds()->entrance_before(seen, vtable.slots[slot]));
}

std::uintptr_t Overridden::original(const void* object, int slot) const {
  const auto* const slots = *static_cast<const std::uintptr_t* const*>(object);
  const auto table = std::find_if(tables_.begin(), tables_.end(), [&](const Table& one) { return one.slots == slots; });
  return table->original[static_cast<std::size_t>(slot)];
}

}  // namespace syscost::agent
