// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/rules.h"

#include <atomic>

#include "backends/dispatch/stub/modules.h"

namespace syscost::signal_safe {
namespace {

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// _dl_find_object, which may use any register that a function may use.
bool find_object(Walker& walker, std::uint64_t address, FoundObject& found) {
  const std::uint64_t mask = syscost_where_state.vector_mask;
  const auto low = static_cast<std::uint32_t>(mask);
  const auto high = static_cast<std::uint32_t>(mask >> 32);
  if (mask != 0) {
    asm volatile("xsave64 %0" : "+m"(walker.vectors) : "a"(low), "d"(high) : "memory");
  } else {
    asm volatile("fxsave64 %0" : "+m"(walker.vectors) : : "memory");
  }
  // The program may have set the direction flag.
  std::uint64_t flags = 0;
  asm volatile("pushfq\n\tpop %0\n\tcld" : "=r"(flags) : : "memory", "cc");
  const int missing = syscost_where_state.find_object(reinterpret_cast<void*>(address), &found);
  asm volatile("push %0\n\tpopfq" : : "r"(flags) : "memory", "cc");
  if (mask != 0) {
    asm volatile("xrstor64 %0" : : "m"(walker.vectors), "a"(low), "d"(high) : "memory");
  } else {
    asm volatile("fxrstor64 %0" : : "m"(walker.vectors) : "memory");
  }
  return missing == 0;
}

Rule find_rule(Walker& walker, std::uint64_t address, bool& is_in_file) {
  FoundObject found;
  found.eh_frame_header = nullptr;
  is_in_file = find_object(walker, address, found);
  if (!is_in_file) return {};
  const FileOfCode file{found.begin, found.end, reinterpret_cast<std::uint64_t>(found.eh_frame_header)};
  const Rule rule = found.eh_frame_header != nullptr ? read_rule(file, address) : Rule();
  return rule.in_module(module_of(found));
}

std::uint64_t mixed(std::uint64_t address) {
  return address * 0x9e37'79b9'7f4a'7c15;
}

}  // namespace

Rule rule_at(Walker& walker, std::uint64_t address) {
  const std::uint64_t mix = mixed(address) ^ load(syscost_where_state.code_epoch) * 0xd6e8'feb8'6659'fd93;
  KeptRule& kept = syscost_where_state.rules[mixed(address) >> 50];
  static_assert(kRules == 1 << (64 - 50));
  bool is_in_file = false;
  // An empty place would look like a rule of it. It is no address of code: mostly it is 0.
  if (mix == 0) return find_rule(walker, address, is_in_file);
  const std::uint64_t word = std::atomic_ref(kept.rule).load(std::memory_order_relaxed);
  if ((std::atomic_ref(kept.check).load(std::memory_order_relaxed) ^ word) == mix) return Rule(word);
  const Rule fresh = find_rule(walker, address, is_in_file);
  // Elsewhere a file may be mapped at any time.
  if (!is_in_file) return fresh;
  std::atomic_ref(kept.rule).store(fresh.word(), std::memory_order_relaxed);
  std::atomic_ref(kept.check).store(fresh.word() ^ mix, std::memory_order_relaxed);
  return fresh;
}

}  // namespace syscost::signal_safe
