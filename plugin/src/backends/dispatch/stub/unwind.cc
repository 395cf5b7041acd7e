// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/unwind.h"

#include <elf.h>

#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/cfi.h"
#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

static_assert(kModules < Rule::kNoModule);

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

// ---- modules --------------------------------------------------------------------------------------------------------

/// The public part of the loader's struct link_map.
struct LinkMap {
  std::uint64_t bias;
  const char* name;
};

const char* copy_of(const char* name) {
  std::uint32_t bytes = 0;
  while (name[bytes] != 0 && bytes < kMaxModuleName) ++bytes;
  auto* copy = static_cast<char*>(take_where_memory(bytes + 1));
  if (copy == nullptr) return "";
  copy_bytes(reinterpret_cast<std::uint64_t>(copy), reinterpret_cast<std::uint64_t>(name), bytes);
  return copy;
}

/// The build id in the notes at `notes`.
void read_build_id(KnownModule& module, std::uint64_t notes, std::uint64_t bytes) {
  const std::uint64_t end = notes + bytes;
  const auto padded = [](std::uint64_t length) { return (length + 3) & ~std::uint64_t{3}; };
  while (notes + sizeof(Elf64_Nhdr) <= end) {
    const auto note = read_at<Elf64_Nhdr>(notes);
    const std::uint64_t name = notes + sizeof note;
    const std::uint64_t content = name + padded(note.n_namesz);
    constexpr std::uint32_t kGnu = 0x0055'4e47;
    const bool is_gnu =
        note.n_namesz == sizeof kGnu && name + sizeof kGnu <= end && read_at<std::uint32_t>(name) == kGnu;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && content + note.n_descsz <= end && note.n_descsz <= kMaxBuildId) {
      copy_bytes(reinterpret_cast<std::uint64_t>(module.build_id), content, note.n_descsz);
      module.build_id_bytes = note.n_descsz;
      return;
    }
    notes = content + padded(note.n_descsz);
  }
}

/// By the program headers, which are mapped with the file's beginning nearly always.
void read_headers(KnownModule& module) {
  if (module.end - module.begin < sizeof(Elf64_Ehdr)) return;
  const auto header = read_at<Elf64_Ehdr>(module.begin);
  constexpr std::uint32_t kElf = 0x464c'457f;
  constexpr std::uint64_t kFirstPage = 4096;
  const std::uint64_t headers_end = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (read_at<std::uint32_t>(module.begin) != kElf || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phoff >= kFirstPage || headers_end > kFirstPage) {
    return;
  }
  // The notes lie in a segment that is mapped from the file's beginning on, or not at all.
  std::uint64_t mapped_end = 0;
  for (std::uint32_t i = 0; i < header.e_phnum; ++i) {
    const auto part = read_at<Elf64_Phdr>(module.begin + header.e_phoff + i * sizeof(Elf64_Phdr));
    const bool is_first = part.p_type == PT_LOAD && module.bias + part.p_vaddr == module.begin;
    if (is_first) mapped_end = module.begin + part.p_filesz;
    const std::uint64_t notes = module.bias + part.p_vaddr;
    if (part.p_type != PT_NOTE || module.build_id_bytes != 0) continue;
    if (mapped_end != 0 && (notes < module.begin || notes + part.p_filesz > mapped_end)) continue;
    if (notes < module.begin || notes + part.p_filesz > module.end) continue;
    read_build_id(module, notes, part.p_filesz);
  }
}

/// The index of the module that was found; Rule::kNoModule where there is no room for more.
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
  const auto& link = *static_cast<const LinkMap*>(found.link_map);
  module.begin = found.begin;
  module.end = found.end;
  module.bias = link.bias;
  module.link_map = map;
  module.name = copy_of(link.name);
  read_headers(module);
  std::atomic_ref(module.is_ready).store(1, std::memory_order_release);
  return index;
}

// ---- rules ----------------------------------------------------------------------------------------------------------

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

/// The bytes of `mov $15, %rax; syscall`: libraries without a table for the return from a handler have these.
bool is_return_from_handler(std::uint64_t address) {
  constexpr std::uint64_t kFirst = 0x050f'0000'000f'c0c7;  // without the first byte, which is the prefix
  return read_at<unsigned char>(address) == 0x48 && read_at<std::uint64_t>(address + 1) == kFirst;
}

Rule find_rule(Walker& walker, std::uint64_t address, bool& is_in_file) {
  FoundObject found;
  found.eh_frame_header = nullptr;
  is_in_file = find_object(walker, address, found);
  if (!is_in_file) return {};
  const Rule rule = found.eh_frame_header != nullptr ? read_rule(found.eh_frame_header, address) : Rule();
  return rule.in_module(module_of(found));
}

std::uint64_t mixed(std::uint64_t address) {
  return address * 0x9e37'79b9'7f4a'7c15;
}

Rule rule_at(Walker& walker, std::uint64_t address) {
  const std::uint64_t mix = mixed(address) ^ load(syscost_where_state.code_epoch) * 0xd6e8'feb8'6659'fd93;
  KeptRule& kept = syscost_where_state.rules[mixed(address) >> 50];
  static_assert(kRules == 1 << (64 - 50));
  const std::uint64_t word = std::atomic_ref(kept.rule).load(std::memory_order_relaxed);
  if ((std::atomic_ref(kept.check).load(std::memory_order_relaxed) ^ word) == mix) return Rule(word);
  bool is_in_file = false;
  const Rule fresh = find_rule(walker, address, is_in_file);
  // Elsewhere a file may be mapped at any time.
  if (!is_in_file) return fresh;
  std::atomic_ref(kept.rule).store(fresh.word(), std::memory_order_relaxed);
  std::atomic_ref(kept.check).store(fresh.word() ^ mix, std::memory_order_relaxed);
  return fresh;
}

// ---- the walk -------------------------------------------------------------------------------------------------------

class Unwinder {
 public:
  Unwinder(const Thread& thread, Walker& walker, const WalkStart& start)
      : thread_(thread),
        walker_(walker),
        walk_(walker.walk),
        ip_(start.ip),
        sp_(start.sp),
        rbp_(start.rbp),
        rdi_(start.rdi),
        is_clone_(start.is_clone),
        top_(thread.stack_top) {}

  void run() {
    walk_.frames = walk_.words = walk_.needs_rbp = walk_.is_foreign = walk_.is_unrepeatable = 0;
    walk_.end = WalkEnd::no_information;
    for (;;) {
      constexpr std::uint32_t kMostWordsOfAFrame = 4;
      if (walk_.frames == kMaxFrames || walk_.words > kMaxWords - kMostWordsOfAFrame) {
        walk_.end = WalkEnd::too_deep;
        return;
      }
      Rule rule = rule_at(walker_, is_return_address_ ? ip_ - 1 : ip_);
      add_frame(rule);
      if (is_clone_ && walk_.frames == 1 && rule.kind() == RuleKind::none) rule = Rule(RuleKind::from_rsp, 8);
      if (rule.kind() == RuleKind::none && rule.module() != Rule::kNoModule && is_return_from_handler(ip_)) {
        rule = Rule(RuleKind::signal, kRegistersInContext);
      }
      if (rule.kind() == RuleKind::outermost) {
        walk_.end = WalkEnd::complete;
        return;
      }
      if (!step(rule)) return;
      if (ip_ == 0) {
        walk_.end = WalkEnd::complete;
        return;
      }
    }
  }

 private:
  static constexpr std::int64_t kRegistersInContext = 40;

  void add_frame(const Rule& rule) {
    const std::uint32_t module = rule.module();
    const std::uint64_t bias = module == Rule::kNoModule ? 0 : syscost_where_state.modules[module].bias;
    // As for a return address: readers subtract 1 from each.
    const std::uint64_t address = is_return_address_ ? ip_ : ip_ + 1;
    walk_.frame[walk_.frames++] = packed_frame(module, address - bias);
    is_return_address_ = true;
  }

  /// True if 8 bytes at `address` can be read.
  bool can_read(std::uint64_t address) {
    constexpr std::uint64_t kWordBytes = 8;
    if (top_ != 0 && address < top_ && top_ - address >= kWordBytes && top_ - address < kLargestThreadStack &&
        address >= lowest_) {
      return true;
    }
    walk_.is_foreign = 1;
    if (address - thread_.own_stack.start < thread_.own_stack.bytes) return true;
    constexpr std::uint64_t kPageBits = 12;
    const std::uint64_t first = address >> kPageBits;
    const std::uint64_t last = (address + kWordBytes - 1) >> kPageBits;
    return can_read_page(first) && (first == last || can_read_page(last));
  }

  bool can_read_page(std::uint64_t page) {
    const std::uint64_t epoch = load(syscost_where_state.memory_epoch) + 1;
    if (walker_.proven_at != epoch) {
      for (std::uint64_t& proven : walker_.proven_page) proven = 0;
      walker_.proven_at = epoch;
    }
    for (const std::uint64_t proven : walker_.proven_page) {
      if (proven == page && page != 0) return true;
    }
    constexpr std::uint64_t kPageBits = 12;
    if (!is_readable(page << kPageBits, sizeof(std::uint64_t))) return false;
    walker_.proven_page[walker_.proven_next++ % kProvenPages] = page;
    return true;
  }

  bool read(std::uint64_t address, std::uint64_t& value) {
    if (!can_read(address)) return false;
    value = read_at<std::uint64_t>(address);
    walk_.word[walk_.words++] = {address, value};
    return true;
  }

  /// The next step depends on rbp: then the stack is the same only if rbp is, or the word it came from.
  void note_rbp() {
    if (rbp_from_ == 0 && !rbp_is_noted_) walk_.needs_rbp = 1;
    if (rbp_from_ != 0) walk_.word[walk_.words++] = {rbp_from_, rbp_};
    rbp_from_ = 0;
    rbp_is_noted_ = true;
  }

  bool restore_rbp(std::uint64_t address) {
    if (!can_read(address)) return false;
    rbp_ = read_at<std::uint64_t>(address);
    rbp_from_ = address;
    rbp_is_noted_ = true;  // once it is read: by note_rbp()
    return true;
  }

  bool leave_signal(std::uint64_t registers) {
    constexpr std::uint64_t kRbpAt = 80;
    constexpr std::uint64_t kRspAt = 120;
    constexpr std::uint64_t kRipAt = 128;
    std::uint64_t rsp = 0;
    if (!read(registers + kRipAt, ip_) || !read(registers + kRspAt, rsp)) return false;
    if (!restore_rbp(registers + kRbpAt)) return false;
    sp_ = rsp;
    lowest_ = rsp;
    is_return_address_ = false;
    return true;
  }

  bool step(const Rule& rule) {
    const auto plus = [](std::uint64_t base, std::int64_t offset) { return base + static_cast<std::uint64_t>(offset); };
    std::uint64_t cfa = 0;
    switch (rule.kind()) {
      case RuleKind::from_rsp:
        cfa = plus(sp_, rule.cfa());
        break;
      case RuleKind::from_rbp:
        note_rbp();
        cfa = plus(rbp_, rule.cfa());
        break;
      case RuleKind::from_memory:
        note_rbp();
        if (!is_near(plus(rbp_, rule.cfa())) || !read(plus(rbp_, rule.cfa()), cfa)) return false;
        break;
      case RuleKind::plt: {
        constexpr std::uint64_t kEntryMask = 15;
        cfa = sp_ + 8 + ((ip_ & kEntryMask) >= static_cast<std::uint64_t>(rule.cfa()) ? 8 : 0);
        break;
      }
      case RuleKind::signal:
        return leave_signal(plus(sp_, rule.cfa()));
      case RuleKind::other_place:
        if (!read(plus(sp_, rule.cfa() + rule.offset()), ip_)) return false;
        sp_ = plus(sp_, rule.cfa());
        return true;
      case RuleKind::in_call: {
        std::uint64_t caller = 0;
        if (!read(sp_ + offsetof(Call, return_address), ip_) || !read(sp_ + offsetof(Call, stack_pointer), caller)) {
          return false;
        }
        sp_ = caller;
        return true;
      }
      case RuleKind::in_rdi:
        if (walk_.frames != 1) return false;
        walk_.is_unrepeatable = 1;
        ip_ = rdi_;
        sp_ = plus(sp_, rule.cfa());
        return true;
      default:
        return false;
    }
    if (!is_near(cfa) || !read(cfa - 8, ip_)) return false;
    if (rule.saved_rbp() == SavedRbp::in_frame && !restore_rbp(plus(cfa, rule.offset()))) return false;
    if (rule.saved_rbp() == SavedRbp::at_rbp && !restore_rbp(rbp_)) return false;
    sp_ = cfa;
    return true;
  }

  bool is_near(std::uint64_t address) const { return address > sp_ && address - sp_ < kLargestFrame; }

  const Thread& thread_;
  Walker& walker_;
  Walk& walk_;
  std::uint64_t ip_;
  std::uint64_t sp_;
  std::uint64_t rbp_;
  std::uint64_t rdi_;
  bool is_clone_;
  bool is_return_address_ = true;
  bool rbp_is_noted_ = false;
  std::uint64_t rbp_from_ = 0;  // where rbp was read, if nothing has depended on it yet
  std::uint64_t top_;
  std::uint64_t lowest_ = sp_;  // on the thread's stack, what lies lower is not the callers'
};

}  // namespace

void unwind(const Guard& /*guard*/, const Thread& thread, Walker& walker, const WalkStart& start) {
  Unwinder(thread, walker, start).run();
}

void* take_where_memory(std::uint64_t bytes) {
  WhereState& where = syscost_where_state;
  std::atomic_ref used(where.arena_used);
  bytes = (bytes + 63) & ~std::uint64_t{63};
  std::uint64_t at = used.load();
  do {
    if (at + bytes > where.arena_bytes) return nullptr;
  } while (!used.compare_exchange_weak(at, at + bytes));
  return where.arena + at;
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

std::uint64_t stack_pointer_outside(std::uint64_t stack_pointer) {
  const WhereState& where = syscost_where_state;
  if (stack_pointer - reinterpret_cast<std::uint64_t>(where.arena) >= where.arena_bytes) return stack_pointer;
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    const Walker* walker = load(syscost_threads[i].walker);
    if (walker == nullptr) continue;
    // A full stack's pointer is the end.
    if (stack_pointer - reinterpret_cast<std::uint64_t>(walker->stack) <= kWalkStackBytes) {
      return walker->stack_pointer_outside;
    }
  }
  return stack_pointer;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's names
extern "C" {
char syscost_where = 0;
syscost::signal_safe::WhereState syscost_where_state{};
}
// NOLINTEND(readability-identifier-naming)
