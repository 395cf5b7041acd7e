// SPDX-License-Identifier: MIT
#include "extras/faults/stub/rules.h"

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/bytes.h"
#include "backends/dispatch/stub/call_files.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/user_memory.h"
#include "core/tables/fault_choice.h"
#include "core/tables/stretches.h"
#include "extras/trace/stub/trace.h"

namespace syscost::signal_safe {
namespace {

FaultRoom* known_room(Thread& thread) {
  return static_cast<FaultRoom*>(std::atomic_ref(thread.fault_room).load(std::memory_order_acquire));
}

}  // namespace

FaultRoom* fault_room_of(const Guard& guard, Thread& thread) {
  if (FaultRoom* const known = known_room(thread)) return known;
  void* const fresh = take_memory(guard, sizeof(FaultRoom));
  if (fresh == nullptr) return nullptr;
  // A signal handler of this thread may have done the same in between, and counted: the first wins.
  void* known = nullptr;
  return static_cast<FaultRoom*>(std::atomic_ref(thread.fault_room).compare_exchange_strong(known, fresh) ? fresh
                                                                                                          : known);
}

void clear_fault_room(Thread& thread) {
  FaultRoom* const room = known_room(thread);
  if (room == nullptr) return;
  if (room->path != nullptr) *static_cast<std::uint64_t*>(room->path) = 0;
  for (FaultCount& count : room->matches) std::atomic_ref(count).store(0, std::memory_order_relaxed);
}

void clear_fault_place(std::uint32_t place, std::uint64_t generation) {
  const std::uint32_t threads = std::atomic_ref(syscost_state.thread_high).load();
  for (std::uint32_t i = 0; i < threads; ++i) {
    FaultRoom* const room = known_room(syscost_threads[i]);
    // A thread that still looks at the place's last rule finds another generation, and counts nothing.
    if (room != nullptr) std::atomic_ref(room->matches[place]).store(first_count(generation));
  }
}

namespace {

/// The argument that is the size; null if none is.
std::uint64_t* size_in(Call& call) {
  switch (byte_source_of(call.number)) {
    case SYSCOST_BYTES_SIZE_2:
      return &call.used.rsi;
    case SYSCOST_BYTES_SIZE_3:
      return &call.used.rdx;
    case SYSCOST_BYTES_SIZE_4:
      return &call.used.r10;
    case SYSCOST_BYTES_SIZE_5:
      return &call.used.r8;
    default:
      return nullptr;
  }
}

/// The kernel refuses a call with another size, and with a stretch that ends beyond the program's half of the memory.
constexpr std::uint64_t kMostBytes = ~std::uint64_t{0} >> 1;

bool is_possible(const Stretch& stretch) {
  return stretch.bytes <= kMostBytes && stretch.address <= kMostBytes - stretch.bytes;
}

constexpr std::uint64_t kMostStretches = 1024;  // the kernel's

bool shorten_stretches(Call& call, std::uint64_t most) {
  const std::uint64_t count = call.used.rdx;
  if (count == 0 || count > kMostStretches) return false;
  UserBytes memory;
  std::uint64_t bytes = 0;
  std::uint64_t whole = 0;  // the stretches that remain as they are
  bool is_full = false;
  Stretch cut{};
  // The kernel looks at all before it moves a byte.
  for (std::uint64_t i = 0; i < count; ++i) {
    Stretch stretch{};
    if (!memory.read(call.used.rsi + i * sizeof stretch, stretch) || !is_possible(stretch)) return false;
    if (i == whole && bytes == 0) cut = stretch;
    is_full = is_full || stretch.bytes > most - bytes;
    if (is_full) continue;
    bytes += stretch.bytes;
    whole = i + 1;
  }
  if (!is_full) return false;
  if (bytes > 0) {
    call.used.rdx = whole;
    return true;
  }
  call.adapted.vector[0] = cut.address;
  call.adapted.vector[1] = most;
  call.used.rsi = reinterpret_cast<std::uint64_t>(call.adapted.vector);
  call.used.rdx = 1;
  return true;
}

}  // namespace

bool moves_bytes(std::uint64_t number) {
  const syscost_byte_source source = byte_source_of(number);
  return source >= SYSCOST_BYTES_RESULT && source <= SYSCOST_BYTES_SIZE_5;
}

bool asks_for_nothing(const Call& call) {
  Call& same = const_cast<Call&>(call);
  if (const std::uint64_t* const size = size_in(same)) return *size == 0;
  if (!has_stretches(call.number)) return false;
  if (call.used.rdx > kMostStretches) return false;
  UserBytes memory;
  for (std::uint64_t i = 0; i < call.used.rdx; ++i) {
    Stretch stretch{};
    if (!memory.read(call.used.rsi + i * sizeof stretch, stretch) || stretch.bytes != 0) return false;
  }
  return true;
}

bool shorten(Call& call, std::uint64_t most) {
  if (std::uint64_t* const size = size_in(call)) {
    if (*size <= most || *size > kMostBytes) return false;
    *size = most;
    return true;
  }
  return has_stretches(call.number) && shorten_stretches(call, most);
}

namespace {

constexpr std::uint32_t kArguments = 6;

/// False if the string at `address` cannot be read: the kernel will say so.
bool keep_path(HitPath& path, std::uint64_t address) {
  UserBytes memory;
  std::uint8_t bytes = 0;
  path.is_cut = 0;
  for (std::uint64_t at = address;; ++at) {
    unsigned char letter = 0;
    if (!memory.byte_at(at, letter)) return false;
    if (letter == 0) break;
    if (bytes == kHitPathBytes) {
      path.is_cut = 1;
      break;
    }
    path.text[bytes++] = static_cast<char>(letter);
  }
  path.bytes = bytes;
  return true;
}

}  // namespace

void keep_hit(const Guard& guard, FaultHit& hit, std::uint64_t generation, const Call& call, bool is_answered) {
  const auto number = static_cast<std::uint32_t>(call.number);
  hit.number = number;
  const Arguments& given = call.given;
  const std::uint64_t arguments[kArguments] = {given.rdi, given.rsi, given.rdx, given.r10, given.r8, given.r9};
  for (std::uint32_t i = 0; i < kArguments; ++i) hit.arguments[i] = arguments[i];
  for (HitPath& path : hit.path) path.is_kept = 0;
  std::uint32_t paths = 0;
  for (std::uint32_t i = 0; i < kArguments && paths < kHitPaths; ++i) {
    if ((syscost_file_arguments.paths[number] >> i & 1) == 0 || !keep_path(hit.path[paths], arguments[i])) continue;
    hit.path[paths].argument = static_cast<std::uint8_t>(i);
    hit.path[paths++].is_kept = 1;
  }
  hit.is_answered = is_answered ? 1 : 0;
  hit.result = static_cast<std::int64_t>(call.result);
  hit.thread = std::atomic_ref(call.thread->id).load();
  hit.stack = stack_before_call(guard, call);
  std::atomic_ref(hit.ready).store(generation, std::memory_order_release);
}

namespace {

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// Adds to a count of the rule with `generation`, and returns the sum. 0 if the place has another rule by now.
std::uint64_t add_to(FaultCount& word, std::uint64_t generation, std::uint64_t count, bool is_shared) {
  if (!is_shared) {
    if (!is_count_of(load(word), generation)) return 0;
    // One instruction: only a handler of the same thread comes in between.
    std::uint64_t before = count;
    asm volatile("xadd %0, %1" : "+r"(before), "+m"(word) : : "memory", "cc");
    return count_in(before) + count;
  }
  std::atomic_ref counter(word);
  FaultCount before = counter.load(std::memory_order_relaxed);
  do {
    if (!is_count_of(before, generation)) return 0;
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
    const bool is_first = !is_count_of(before, generation);
    if (is_first && load(rule.generation) != generation) return 0;
    after = (is_first ? first_count(generation) : before) + 1;
  } while (!counter.compare_exchange_weak(before, after));
  return count_in(after);
}

bool may_be_filtered() {
  return load(syscost_string_copies.may_be_filtered);
}
bool has_clock() {
  return syscost_state.ns_per_tick != 0 && syscost_denies_ticks == 0;
}
/// By a call, or by the clock alone where a filter may forbid the call.
bool can_wait() {
  return !may_be_filtered() || has_clock();
}

/// A thread whose calls are the program's, and are made in this process.
bool is_of_program(const Thread& thread) {
  const bool is_record = &thread >= syscost_threads && &thread < syscost_threads + kThreads;
  return is_record && thread.waits_for_child == 0 && load(thread.own_work) == 0;
}

/// `notes`: counts a call whose file cannot be known.
bool is_for(const Guard& guard, FaultRule& rule, std::uint64_t generation, const Call& call, bool notes) {
  if (!rule.numbers.has(static_cast<std::uint32_t>(call.number))) return false;
  const bool is_of_thread =
      rule.thread == nullptr || (rule.thread == call.thread && rule.thread_id == load(call.thread->id));
  if (!is_of_thread || rule.file.is_any != 0) return is_of_thread;
  const About about = is_about(guard, rule.file, call);
  if (about == About::unknown && notes) add_to(rule.filtered, generation, 1, true);
  return about == About::yes;
}

bool is_chosen_by(const FaultRule& rule, std::uint64_t n) {
  return is_chosen({rule.first, rule.last, rule.step, rule.threshold, rule.seed}, n);
}

constexpr std::uint64_t kYoungest = ~std::uint64_t{0};

/// The open rules from the newest on, as they are now: those of a lower generation than `limit`, by the list that
/// begins at `link`.
class OpenRules {
 public:
  OpenRules(std::uint32_t link, std::uint64_t limit) : link_(link), limit_(limit) {}

  /// Null at the end.
  FaultRule* next() {
    while (link_ != 0) {
      FaultRule& rule = syscost_faults.rule[link_ - 1];
      generation_ = load(rule.generation);
      link_ = load(rule.older);
      // Closed, or its place got a rule that is newer than those that have been asked.
      if (generation_ == 0 || generation_ >= limit_) continue;
      limit_ = generation_;
      return &rule;
    }
    return nullptr;
  }
  /// The generation of the rule that next() returned.
  std::uint64_t generation() const { return generation_; }

 private:
  std::uint32_t link_;
  std::uint64_t limit_;
  std::uint64_t generation_ = 0;
};

/// As choose_rule(), of the rules that OpenRules(link, limit) has. They come as numbers: a struct would come through
/// memory, which takes some nanoseconds more.
inline ChosenRule choose_of(const Guard& guard, const Call& call, std::uint32_t link, std::uint64_t limit,
                            bool is_answered) {
  OpenRules rules(link, limit);
  while (FaultRule* const rule = rules.next()) {
    const std::uint64_t generation = rules.generation();
    if ((is_answered && rule->is_watch == 0) || !is_for(guard, *rule, generation, call, true)) continue;
    std::uint64_t n = add_to(rule->matches, generation, 1, rule->thread == nullptr);
    if (rule->is_per_thread != 0 && n != 0) [[unlikely]] {
      const auto place = static_cast<std::uint32_t>(rule - syscost_faults.rule);
      n = number_of_thread(guard, call, *rule, place, generation);
    }
    if (n != 0 && is_chosen_by(*rule, n)) return {rule, generation};
  }
  return {};
}

/// For column `injected`.
void note_change(Call& call, bool is_changed) {
  if (is_changed) call.is_altered = 1;
}

/// True if the rule lets no more bytes through; the rule counts the call's bytes when it comes back.
bool is_used_up(FaultRule& rule, std::uint64_t generation, Call& call, bool is_plain) {
  // A full disk takes no byte, too.
  const bool moves = is_plain && moves_bytes(call.number);
  if (moves && asks_for_nothing(call)) return false;
  const std::uint64_t moved = load(rule.moved);
  if (!is_count_of(moved, generation) || count_in(moved) >= rule.bytes_left) return true;
  if (moves) {
    note_change(call, shorten(call, rule.bytes_left - count_in(moved)));
    call.adapted.clients |= kMarkedByFaults;
  }
  return false;
}

/// A brk that fails returns the break as it is: libc takes an errno for a break that has moved.
void answer(Call& call, std::int64_t result) {
  const bool is_break = call.number == SYS_brk;
  constexpr std::int64_t kMostErrno = 4095;
  const bool is_error = result < 0 && result >= -kMostErrno;
  call.result = static_cast<std::uint64_t>(is_break && is_error ? syscost_raw_syscall(SYS_brk) : result);
  // record() takes this for the break before the call: it has not moved.
  if (is_break) call.note = call.result;
}

}  // namespace

ChosenRule choose_rule(const Guard& guard, const Call& call) {
  if (call.abi != 0 || !is_of_program(*call.thread)) return {};
  return choose_of(guard, call, load(syscost_faults.newest), kYoungest, false);
}

bool ask_faults(const Guard& guard, Call& call, bool is_plain, ChosenRule chosen) {
  bool is_answered = false;
  std::uint64_t delay_ns = 0;
  for (; chosen.rule != nullptr;
       chosen = choose_of(guard, call, load(chosen.rule->older), chosen.generation, is_answered)) {
    FaultRule& rule = *chosen.rule;
    const std::uint64_t generation = chosen.generation;
    if (rule.has_bytes != 0 && !is_used_up(rule, generation, call, is_plain)) continue;
    if ((rule.delay_enter_ns | rule.delay_exit_ns) != 0 && !can_wait()) {
      add_to(rule.filtered, generation, 1, true);
      continue;
    }
    if (rule.shortens != 0) {
      const bool is_shortened = is_plain && !is_answered && rule.answers == 0 && shorten(call, rule.most_bytes);
      note_change(call, is_shortened);
      // A call that would move no more is not hit.
      if (!is_shortened && (rule.answers | rule.delay_enter_ns | rule.delay_exit_ns) == 0) continue;
    }
    const std::uint64_t hits = add_to(rule.hits, generation, 1, rule.thread == nullptr);
    if (hits == 0) continue;
    const bool answers = rule.answers != 0 && !is_answered;
    if (answers) answer(call, rule.result);
    if (rule.keeper != 0 && hits <= kKeptHits) {
      keep_hit(guard, syscost_faults.kept[rule.keeper - 1][hits - 1], generation, call, is_answered || answers);
    }
    if (is_answered) continue;
    delay_ns += rule.delay_enter_ns;
    note_change(call, rule.answers != 0 || rule.delay_enter_ns != 0 || (is_plain && rule.delay_exit_ns != 0));
    if (is_plain) call.adapted.delay_exit_ns += rule.delay_exit_ns;
    is_answered = answers;
  }
  if (delay_ns != 0) wait_for(delay_ns);
  if (is_answered && is_plain && call.adapted.delay_exit_ns != 0) wait_for(call.adapted.delay_exit_ns);
  return is_answered;
}

void tell_faults(const Guard& guard, const Call& call) {
  if (static_cast<std::int64_t>(call.result) <= 0 || !moves_bytes(call.number)) return;
  OpenRules rules(load(syscost_faults.newest), kYoungest);
  while (FaultRule* const rule = rules.next()) {
    const std::uint64_t generation = rules.generation();
    if (rule->has_bytes == 0 || !is_for(guard, *rule, generation, call, false)) continue;
    add_to(rule->moved, generation, call.result, rule->thread == nullptr);
  }
}

namespace {

/// By the clock, which needs no call.
void spin_for(std::uint64_t ns) {
  if (!has_clock()) return;
  const std::uint64_t start = read_ticks();
  while (to_ns(read_ticks() - start) < ns) asm volatile("pause");
}

}  // namespace

void wait_for(std::uint64_t ns) {
  struct Time {
    std::uint64_t seconds;
    std::uint64_t ns;
  };
  constexpr std::uint64_t kSecond = 1'000'000'000;
  Time left{ns / kSecond, ns % kSecond};
  // The kernel stores the time that is left when a handler has run, which may have installed a filter.
  do {
    if (may_be_filtered()) return spin_for(left.seconds * kSecond + left.ns);
  } while (syscost_raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&left), reinterpret_cast<long>(&left)) == -EINTR);
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::FaultState syscost_faults{};
}
// NOLINTEND(readability-identifier-naming)
