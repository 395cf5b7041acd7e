// SPDX-License-Identifier: MIT
#include "core/syscall_table.h"

#include <charconv>
#include <system_error>

namespace syscost {
namespace {

// One past the largest number of a table: as many entries as that.
struct NumberedEntry {
  std::uint32_t number;
  SyscallTableEntry entry;
};

#define SYSCOST_SYSCALL(number, name, classes) NumberedEntry{number, {name, classes}},
constexpr NumberedEntry kX86_64[] = {
#include "core/tables/syscall_table_x86_64.inc"
};
constexpr NumberedEntry kI386[] = {
#include "core/tables/syscall_table_i386.inc"
};
constexpr NumberedEntry kX32Differences[] = {
#include "core/tables/syscall_table_x32.inc"
};
#undef SYSCOST_SYSCALL

// Spreads the lists over an array indexed by number; a later list changes what an earlier one says.
template <std::size_t size, class... Lists>
constexpr std::array<SyscallTableEntry, size> by_number(const Lists&... lists) {
  std::array<SyscallTableEntry, size> table{};
  const auto spread = [&table](const auto& list) {
    for (const NumberedEntry& item : list) table[item.number] = item.entry;
  };
  (spread(lists), ...);
  return table;
}

template <std::size_t count>
constexpr std::size_t size_of(const NumberedEntry (&list)[count]) {
  return list[count - 1].number + 1;
}

constexpr auto kX86_64ByNumber = by_number<size_of(kX86_64)>(kX86_64);
constexpr auto kI386ByNumber = by_number<size_of(kI386)>(kI386);
constexpr auto kX32ByNumber = by_number<size_of(kX32Differences)>(kX86_64, kX32Differences);

struct AbiTable {
  std::string_view prefix;
  std::span<const SyscallTableEntry> entries;
};

// By Abi. The first is the native one: its names stand without prefix.
constexpr std::array<AbiTable, kAbiCount> kTables = {
    {{"", kX86_64ByNumber}, {"i386:", kI386ByNumber}, {"x32:", kX32ByNumber}}};

const AbiTable& table_of(Abi abi) {
  return kTables[static_cast<std::size_t>(abi)];
}

const SyscallTableEntry* find(SyscallId id) {
  std::span<const SyscallTableEntry> entries = table_of(id.abi).entries;
  return id.number < entries.size() ? &entries[id.number] : nullptr;
}

constexpr std::string_view kNumberedSyscall = "syscall_";
constexpr std::string_view kUnknownName = "unknown";

}  // namespace

std::span<const SyscallTableEntry> syscall_table(Abi abi) {
  return table_of(abi).entries;
}

std::string_view abi_prefix(Abi abi) {
  return table_of(abi).prefix;
}

std::string_view syscall_base_name(SyscallId id) {
  const SyscallTableEntry* entry = find(id);
  return entry == nullptr ? std::string_view() : entry->name;
}

std::string syscall_name(SyscallId id) {
  if (id == kUnknownSyscall) return std::string(kUnknownName);
  std::string name(table_of(id.abi).prefix);
  std::string_view base = syscall_base_name(id);
  return base.empty() ? name.append(kNumberedSyscall).append(std::to_string(id.number)) : name.append(base);
}

std::optional<SyscallId> find_syscall(Abi abi, std::string_view base_name) {
  if (base_name.starts_with(kNumberedSyscall)) {
    std::string_view digits = base_name.substr(kNumberedSyscall.size());
    SyscallId id{abi, 0};
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id.number);
    if (error == std::errc() && end == digits.data() + digits.size()) return id;
    return std::nullopt;
  }
  if (base_name.empty()) return std::nullopt;
  std::span<const SyscallTableEntry> entries = table_of(abi).entries;
  for (std::size_t number = 0; number < entries.size(); ++number) {
    if (entries[number].name == base_name) return SyscallId{abi, static_cast<std::uint32_t>(number)};
  }
  return std::nullopt;
}

std::optional<SyscallId> parse_syscall_name(std::string_view name) {
  if (name == kUnknownName) return kUnknownSyscall;
  // The native ABI comes last: its prefix is empty and fits everything.
  for (std::size_t abi = kAbiCount; abi-- > 0;) {
    std::string_view prefix = kTables[abi].prefix;
    if (name.starts_with(prefix)) return find_syscall(static_cast<Abi>(abi), name.substr(prefix.size()));
  }
  return std::nullopt;
}

SyscallClass syscall_classes(SyscallId id) {
  const SyscallTableEntry* entry = find(id);
  return entry == nullptr ? SyscallClass::none : entry->classes;
}

std::string class_list(SyscallId id) {
  std::string list;
  for (const ClassName& known : kSyscallClasses) {
    if (!overlaps(syscall_classes(id), known.bit)) continue;
    if (!list.empty()) list += ';';
    list += known.word;
  }
  return list;
}

}  // namespace syscost
