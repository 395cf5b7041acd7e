// SPDX-License-Identifier: MIT
#include "extras/faults/seccomp/fault_judge.h"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <iterator>
#include <limits>

#include "backends/seccomp/supervisor.h"
#include "core/syscall_id.h"
#include "extras/faults/seccomp/fault_book.h"

namespace syscost::seccomp {
namespace {

/// One writer, so a load and a store do. Returns the sum.
std::uint64_t add_one(std::atomic<std::uint64_t>& count) {
  const std::uint64_t sum = count.load(std::memory_order_relaxed) + 1;
  count.store(sum, std::memory_order_release);
  return sum;
}

bool has_descriptor(const FaultBook& book, const BookedRule& rule, const Notification& call) {
  const std::uint32_t which = book.descriptors[call.number].load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < std::size(call.arguments); ++i) {
    if ((which >> i & 1) != 0 && static_cast<std::int32_t>(call.arguments[i]) == rule.descriptor) return true;
  }
  return false;
}

bool is_for(const FaultBook& book, const BookedRule& rule, const Notification& call) {
  return rule.has(call.number) && (rule.thread == 0 || rule.thread == call.thread) &&
         (!rule.is_for_descriptor || has_descriptor(book, rule, call));
}

bool is_hit(const BookedRule& rule, std::uint64_t n) {
  const FaultChoice choice = rule.choice;
  // The compiler must not read it again: the process could change `step` to 0 in between.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return is_chosen(choice, n);
}

void count_hit(BookedRule& rule, const Notification& call) {
  const std::uint64_t before = rule.hits.load(std::memory_order_relaxed);
  if (rule.keeps_hits && before < kKeptHits) {
    NotedHit& hit = rule.hit[before];
    hit.number = call.number;
    hit.thread = static_cast<std::uint32_t>(call.thread);
    std::copy(std::begin(call.arguments), std::end(call.arguments), std::begin(hit.arguments));
  }
  rule.hits.store(before + 1, std::memory_order_release);
}

// Rules are for the native ABI, but a program may execute another one, or end a thread, by any.
constexpr bool is_execution(SyscallId id) {
  switch (id.abi) {
    case Abi::x86_64:
      return id.number == SYS_execve || id.number == SYS_execveat;
    case Abi::i386:
      return id.number == 11 || id.number == 358;
    case Abi::x32:
      return id.number == 520 || id.number == 545;
  }
  return false;
}
constexpr bool is_threads_end(SyscallId id) {
  return id.number == (id.abi == Abi::i386 ? 1 : SYS_exit);
}

std::uint32_t places_used(const FaultBook& book) {
  return std::min(book.high.load(std::memory_order_seq_cst), kFaultRules);
}

}  // namespace

Verdict FaultJudge::ask(const Notification& call) {
  if (!ledger_.notifies_everything) return {};
  const SyscallId id = syscall_id_of(call.arch, call.number);
  if (is_execution(id)) note_execution(call.thread);
  if (shared_.faults.high.load(std::memory_order_relaxed) == 0) return {};
  // Announced before a rule is read, as counting is: see fault_book.h.
  shared_.sequence.fetch_add(1, std::memory_order_seq_cst);
  Verdict verdict;
  if (is_threads_end(id)) note_end(call.thread);
  if (id.abi == kNativeAbi && id.number < FaultRule::kNumbers) verdict = ask_rules(call);
  shared_.sequence.fetch_add(1, std::memory_order_release);
  return verdict;
}

Verdict FaultJudge::ask_rules(const Notification& call) {
  FaultBook& book = shared_.faults;
  struct Match {
    std::uint64_t generation;
    std::uint32_t place;
  };
  std::array<Match, kFaultRules> matches;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first `count`
  std::size_t count = 0;
  const std::uint32_t used = places_used(book);
  for (std::uint32_t place = 0; place < used; ++place) {
    const std::uint64_t generation = book.rule[place].generation.load(std::memory_order_seq_cst);
    if (generation == 0 || generation == ledger_.ended_rules.generation[place] || !is_for(book, book.rule[place], call))
      continue;
    matches[count++] = {generation, place};
  }
  if (count == 0 || !is_of_program(call.thread)) return {};
  std::sort(matches.begin(), matches.begin() + count,
            [](const Match& a, const Match& b) { return a.generation > b.generation; });
  Verdict verdict;
  for (std::size_t i = 0; i < count; ++i) {
    BookedRule& rule = book.rule[matches[i].place];
    if (verdict.is_answered && !rule.is_watch) continue;
    std::uint64_t n = add_one(rule.matches);
    if (rule.is_per_thread) n = number_of_thread(matches[i].place, matches[i].generation, call.thread);
    if (n == 0) add_one(rule.unnumbered);
    if (n == 0 || !is_hit(rule, n)) continue;
    count_hit(rule, call);
    if (verdict.is_answered) continue;
    verdict.delay_ns += rule.delay_ns;
    verdict.is_answered = rule.answers;
    verdict.result = rule.result;
  }
  return verdict;
}

/// Where the thread's matches are counted, or a free place; null if there is none.
ThreadCount* FaultJudge::find_count(std::uint64_t generation, std::int32_t thread) {
  constexpr std::uint32_t kTries = 64;
  const std::uint64_t start =
      (generation * 0x9e37'79b9'7f4a'7c15 + static_cast<std::uint32_t>(thread)) * 0xbf58'476d'1ce4'e5b9;
  ThreadCount* free = nullptr;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    ThreadCount& one = ledger_.of_threads[((start >> 40) + i) % kThreadCounts];
    if (one.generation == generation && one.thread == thread) return &one;
    const bool is_free = one.thread == 0 || shared_.faults.rule[one.place].generation != one.generation;
    if (is_free && free == nullptr) free = &one;
    if (one.generation == 0) break;
  }
  return free;
}

/// The number of the match among the thread's own; 0 if there is no place for it.
std::uint64_t FaultJudge::number_of_thread(std::uint32_t place, std::uint64_t generation, std::int32_t thread) {
  ThreadCount* const count = find_count(generation, thread);
  if (count == nullptr) return 0;
  if (count->generation != generation || count->thread != thread) *count = {generation, place, thread, 0};
  return ++count->matches;
}

/// True if the thread belongs to the measured process, makes a call of the program, and the program is still the one
/// that made the rules. The thread waits, so the answer stays true.
bool FaultJudge::is_of_program(std::int32_t thread) const {
  if (thread <= 0 || static_cast<std::size_t>(thread) >= kThreadIds) return false;
  if (shared_.faults.own_work[thread].load(std::memory_order_acquire) != 0) return false;
  if (!is_of_process(ledger_.measured, thread)) return false;
  // When the process has ended, a child may get its id.
  pollfd end{measured_, POLLIN, 0};
  if (measured_ >= 0 && poll(&end, 1, 0) > 0) return false;
  const bool may_be_another = measured_ < 0 || ledger_.has_executed.load(std::memory_order_relaxed);
  return !may_be_another || image_.is_of(ledger_.measured);
}

/// A program that replaces the measured one keeps its process id, and the rules would hit it.
void FaultJudge::note_execution(std::int32_t thread) {
  if (is_of_process(ledger_.measured, thread)) ledger_.has_executed = true;
}

/// Another thread may get its id.
void FaultJudge::note_end(std::int32_t thread) {
  const std::uint32_t used = places_used(shared_.faults);
  for (std::uint32_t place = 0; place < used; ++place) {
    const BookedRule& rule = shared_.faults.rule[place];
    const std::uint64_t generation = rule.generation.load(std::memory_order_seq_cst);
    if (generation == 0) continue;
    if (rule.thread == thread) ledger_.ended_rules.generation[place] = generation;
    ThreadCount* const count = rule.is_per_thread ? find_count(generation, thread) : nullptr;
    if (count != nullptr && count->generation == generation) count->thread = 0;
  }
}

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

void settle(int listener, std::uint64_t id, const Verdict& verdict) {
  if (verdict.is_answered) {
    answer(listener, id, verdict.result);
  } else {
    let_continue(listener, id);
  }
}

void Delays::add(std::uint64_t id, const Verdict& verdict) {
  DelayedCall* const end = std::end(ledger_.delayed);
  DelayedCall* const free = std::find_if(std::begin(ledger_.delayed), end, [](auto& call) { return call.id == 0; });
  if (free == end) return settle(listener_, id, verdict);
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t longest = std::numeric_limits<std::uint64_t>::max() - now;
  free->due_ns = now + std::min(verdict.delay_ns, longest);
  free->result = verdict.result;
  free->is_answered = verdict.is_answered;
  free->id.store(id, std::memory_order_release);
  ++waiting_;
}

bool Delays::wait_for_call() {
  if (waiting_ == 0) return true;
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t now = monotonic_ns();
  waiting_ = 0;
  for (DelayedCall& call : ledger_.delayed) {
    if (call.id == 0) continue;
    if (call.due_ns <= now) {
      settle(listener_, call.id, {call.is_answered, call.result, 0});
      call.id = 0;
      continue;
    }
    next = std::min(next, call.due_ns);
    ++waiting_;
  }
  if (waiting_ == 0) return true;
  const std::uint64_t left = std::min(next - now, kSecondNs);
  const timespec timeout{static_cast<time_t>(left / kSecondNs), static_cast<long>(left % kSecondNs)};
  // If there is no room for another one that waits, none is received.
  pollfd state{listener_, POLLIN, 0};
  return ppoll(&state, waiting_ < kDelayedCalls ? 1 : 0, &timeout, nullptr) > 0;
}

}  // namespace syscost::seccomp
