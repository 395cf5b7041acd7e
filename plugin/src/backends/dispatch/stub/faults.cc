// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/faults.h"

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// Adds to a count of the rule with `generation`, and returns the sum. 0 if the place has another rule by now.
std::uint64_t add_to(FaultCount& word, std::uint64_t generation, std::uint64_t count, bool is_shared) {
  if (!is_shared) {
    // One instruction: only a handler of the same thread comes in between.
    std::uint64_t before = count;
    asm volatile("xadd %0, %1" : "+r"(before), "+m"(word) : : "memory", "cc");
    return count_in(before) + count;
  }
  std::atomic_ref counter(word);
  FaultCount before = counter.load(std::memory_order_relaxed);
  do {
    if (before >> kGenerationAt != generation) return 0;
  } while (!counter.compare_exchange_weak(before, before + count));
  return count_in(before) + count;
}

/// The number of the match among the calling thread's own; 0 if the place has another rule by now.
__attribute__((noinline)) std::uint64_t number_of_thread(const Guard& guard, const Call& call, FaultRule& rule,
                                                         std::uint32_t place, std::uint64_t generation) {
  FaultRoom* const room = fault_room_of(guard, *call.thread);
  if (room == nullptr) {
    add_to(rule.unnumbered, generation, 1, true);
    return 0;
  }
  std::atomic_ref counter(room->matches[place]);
  FaultCount before = counter.load(std::memory_order_relaxed);
  FaultCount after = 0;
  do {
    // The thread or its room may be younger than the rule.
    const bool is_first = before >> kGenerationAt != generation;
    if (is_first && load(rule.generation) != generation) return 0;
    after = is_first ? (generation << kGenerationAt) + 1 : before + 1;
  } while (!counter.compare_exchange_weak(before, after));
  return count_in(after);
}

/// A thread whose calls are the program's, and are made in this process.
bool is_of_program(const Thread& thread) {
  const bool is_record = &thread >= syscost_threads && &thread < syscost_threads + kThreads;
  return is_record && thread.waits_for_child == 0 && load(thread.own_work) == 0;
}

bool is_for(const Guard& guard, const FaultRule& rule, const Call& call) {
  if (!rule.numbers.has(static_cast<std::uint32_t>(call.number))) return false;
  const bool is_of_thread =
      rule.thread == nullptr || (rule.thread == call.thread && rule.thread_id == load(call.thread->id));
  return is_of_thread && (rule.file.is_any != 0 || is_about(guard, rule.file, call));
}

bool is_chosen(const FaultRule& rule, std::uint64_t n) {
  if (n < rule.first || n > rule.last) return false;
  if (rule.step > 1 && (n - rule.first) % rule.step != 0) return false;
  return rule.threshold == ~std::uint64_t{0} || draw(rule.seed, n) < rule.threshold;
}

std::uint32_t place_of(const FaultRule& rule) {
  return static_cast<std::uint32_t>(&rule - syscost_faults.rule);
}

/// As choose_rule(), of the rules below the place `end`.
inline ChosenRule choose_below(const Guard& guard, const Call& call, std::uint32_t end, bool is_answered) {
  for (std::uint32_t i = end; i-- > 0;) {
    FaultRule& rule = syscost_faults.rule[i];
    const std::uint64_t generation = load(rule.generation);
    if (generation == 0 || (is_answered && rule.is_watch == 0) || !is_for(guard, rule, call)) continue;
    std::uint64_t n = add_to(rule.matches, generation, 1, rule.thread == nullptr);
    if (rule.is_per_thread != 0 && n != 0) [[unlikely]] {
      n = number_of_thread(guard, call, rule, i, generation);
    }
    if (n != 0 && is_chosen(rule, n)) return {&rule, generation};
  }
  return {};
}

// ---- how many bytes -------------------------------------------------------------------------------------------------

/// Where a call that moves bytes says how many.
enum class Size { none, in_rdx, in_vector };

Size size_of(std::uint64_t number) {
  switch (number) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_recvfrom:
    case SYS_sendto:
      return Size::in_rdx;
    case SYS_readv:
    case SYS_writev:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
      return Size::in_vector;
    default:
      return Size::none;
  }
}

/// The kernel's iovec.
struct Stretch {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// Lets the call move at most `most` bytes, which is not 0. Of several stretches only whole ones remain, or a part of
/// the first. False if it moves no more anyway.
bool shorten(Call& call, std::uint64_t most) {
  const Size size = size_of(call.number);
  if (size == Size::in_rdx && call.used.rdx > most) {
    call.used.rdx = most;
    return true;
  }
  if (size != Size::in_vector) return false;
  const std::uint64_t count = call.used.rdx;
  constexpr std::uint64_t kMostStretches = 1024;  // the kernel's
  if (count == 0 || count > kMostStretches || !is_readable(call.used.rsi, count * sizeof(Stretch))) return false;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto stretch = read_at<Stretch>(call.used.rsi + i * sizeof(Stretch));
    if (stretch.bytes <= most - bytes) {
      bytes += stretch.bytes;
      continue;
    }
    if (bytes > 0) {
      call.used.rdx = i;
      return true;
    }
    call.adapted.vector[0] = stretch.address;
    call.adapted.vector[1] = most;
    call.used.rsi = reinterpret_cast<std::uint64_t>(call.adapted.vector);
    call.used.rdx = 1;
    return true;
  }
  return false;
}

/// For column `injected`.
void note_change(Call& call, bool is_changed) {
  if (is_changed) call.is_injected = 1;
}

/// What the rule still lets through; the rule counts the call's bytes when it comes back.
bool is_used_up(FaultRule& rule, std::uint64_t generation, Call& call, bool is_plain) {
  const std::uint64_t moved = load(rule.moved);
  if (moved >> kGenerationAt != generation || count_in(moved) >= rule.bytes_left) return true;
  if (is_plain) {
    note_change(call, shorten(call, rule.bytes_left - count_in(moved)));
    call.adapted.clients |= kMarkedByFaults;
  }
  return false;
}

// ---- hits -----------------------------------------------------------------------------------------------------------

void keep_hit(const Guard& guard, FaultRule& rule, std::uint64_t generation, std::uint64_t n, const Call& call) {
  if (n > kKeptHits) return;
  FaultHit& hit = rule.hit[n - 1];
  hit.number = static_cast<std::uint32_t>(call.number);
  const Arguments& given = call.given;
  const std::uint64_t arguments[] = {given.rdi, given.rsi, given.rdx, given.r10, given.r8, given.r9};
  for (std::uint32_t i = 0; i < 6; ++i) hit.arguments[i] = arguments[i];
  hit.is_answered = rule.answers;
  hit.result = rule.result;
  hit.thread = load(call.thread->id);
  hit.stack = stack_before_call(guard, call);
  std::atomic_ref(hit.ready).store(generation, std::memory_order_release);
}

}  // namespace

ChosenRule choose_rule(const Guard& guard, const Call& call) {
  if (call.abi != 0 || !is_of_program(*call.thread)) return {};
  return choose_below(guard, call, load(syscost_faults.high), false);
}

bool ask_faults(const Guard& guard, Call& call, bool is_plain, ChosenRule chosen) {
  bool is_answered = false;
  std::uint64_t delay_ns = 0;
  for (; chosen.rule != nullptr; chosen = choose_below(guard, call, place_of(*chosen.rule), is_answered)) {
    FaultRule& rule = *chosen.rule;
    const std::uint64_t generation = chosen.generation;
    if (rule.has_bytes != 0 && !is_used_up(rule, generation, call, is_plain)) continue;
    const std::uint64_t hits = add_to(rule.hits, generation, 1, rule.thread == nullptr);
    if (hits == 0) continue;
    if (rule.keeps_hits != 0) keep_hit(guard, rule, generation, hits, call);
    if (is_answered) continue;
    delay_ns += rule.delay_enter_ns;
    note_change(call, rule.answers != 0 || rule.delay_enter_ns != 0 || (is_plain && rule.delay_exit_ns != 0));
    if (is_plain) {
      call.adapted.delay_exit_ns += rule.delay_exit_ns;
      if (rule.shortens != 0) {
        note_change(call, shorten(call, rule.most_bytes));
        call.adapted.clients |= kMarkedByFaults;
      }
    }
    if (rule.answers != 0) {
      call.result = static_cast<std::uint64_t>(rule.result);
      is_answered = true;
    }
  }
  if (delay_ns != 0) wait_for(delay_ns);
  if (is_answered && is_plain && call.adapted.delay_exit_ns != 0) wait_for(call.adapted.delay_exit_ns);
  return is_answered;
}

void tell_faults(const Guard& guard, const Call& call) {
  if (static_cast<std::int64_t>(call.result) <= 0) return;
  for (std::uint32_t i = load(syscost_faults.high); i-- > 0;) {
    FaultRule& rule = syscost_faults.rule[i];
    const std::uint64_t generation = load(rule.generation);
    if (generation == 0 || rule.has_bytes == 0 || !is_for(guard, rule, call)) continue;
    add_to(rule.moved, generation, call.result, rule.thread == nullptr);
  }
}

void wait_for(std::uint64_t ns) {
  struct Time {
    std::uint64_t seconds;
    std::uint64_t ns;
  };
  constexpr std::uint64_t kSecond = 1'000'000'000;
  Time left{ns / kSecond, ns % kSecond};
  // What is left is stored when a handler has run.
  while (syscost_raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&left), reinterpret_cast<long>(&left)) == -EINTR) {
  }
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::FaultState syscost_faults{};
}
// NOLINTEND(readability-identifier-naming)
