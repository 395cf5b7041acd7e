// SPDX-License-Identifier: MIT
#include "extras/where/stub/unwind.h"

#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/stub/cfi.h"
#include "extras/where/stub/cfi_rules.h"

namespace syscost::signal_safe {
namespace {

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

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
      if (rule.kind() == RuleKind::none && rule.module() != Rule::kNoModule && is_return_from_handler()) {
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

  /// The bytes of `mov $15, %rax; syscall`: libraries without a table for the return from a handler have these. A word
  /// on a stack may point into a hole between the parts of a file, or into a library that another thread unloads now.
  bool is_return_from_handler() const {
    constexpr unsigned char kPrefix = 0x48;
    constexpr std::uint64_t kCode = 0x050f'0000'000f'c0c7;
    unsigned char prefix = 0;
    std::uint64_t code = 0;
    return read_user(ip_, prefix) && prefix == kPrefix && read_user(ip_ + 1, code) && code == kCode;
  }

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
