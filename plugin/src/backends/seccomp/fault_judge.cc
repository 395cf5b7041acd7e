// SPDX-License-Identifier: MIT
#include "backends/seccomp/fault_judge.h"

#include <linux/audit.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "backends/seccomp/fault_book.h"
#include "backends/seccomp/supervisor.h"

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

/// The number of the match among the thread's own; 0 if there is no place for it.
std::uint64_t number_of_thread(FaultBook& book, std::uint32_t place, std::int32_t thread) {
  const std::uint64_t generation = book.rule[place].opened;
  constexpr std::uint32_t kTries = 64;
  const std::uint64_t start =
      (generation * 0x9e37'79b9'7f4a'7c15 + static_cast<std::uint32_t>(thread)) * 0xbf58'476d'1ce4'e5b9;
  ThreadCount* free = nullptr;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    ThreadCount& one = book.of_threads[((start >> 40) + i) % kThreadCounts];
    if (one.generation == generation && one.thread == thread) return ++one.matches;
    const bool is_free = one.generation == 0 || book.rule[one.place].generation != one.generation;
    if (is_free && free == nullptr) free = &one;
    if (one.generation == 0) break;
  }
  if (free == nullptr) return 0;
  *free = {generation, place, thread, 1};
  return 1;
}

/// `n`: it is the n-th hit. Before the count says so.
void keep_hit(BookedRule& rule, std::uint64_t n, const Notification& call) {
  if (!rule.keeps_hits || n > kKeptHits) return;
  NotedHit& hit = rule.hit[n - 1];
  hit.number = call.number;
  hit.thread = static_cast<std::uint32_t>(call.thread);
  std::copy(std::begin(call.arguments), std::end(call.arguments), std::begin(hit.arguments));
}

}  // namespace

Verdict FaultJudge::ask(const Notification& call) {
  if (shared_.faults == nullptr || call.arch != AUDIT_ARCH_X86_64) return {};
  note_execution(call);
  // x32 has a bit in the number. Other ABIs meet no rule.
  if (shared_.faults->high.load(std::memory_order_relaxed) == 0 || call.number >= FaultRule::kNumbers) return {};
  // Announced before a rule is read, as counting is: see fault_book.h.
  shared_.sequence.fetch_add(1, std::memory_order_seq_cst);
  const Verdict verdict = ask_rules(call);
  shared_.sequence.fetch_add(1, std::memory_order_release);
  return verdict;
}

Verdict FaultJudge::ask_rules(const Notification& call) {
  FaultBook& book = *shared_.faults;
  Verdict verdict;
  std::optional<bool> is_ours;  // costs a call
  for (std::uint32_t i = book.high.load(std::memory_order_seq_cst); i-- > 0;) {
    BookedRule& rule = book.rule[i];
    if (rule.generation.load(std::memory_order_seq_cst) == 0 || (verdict.is_answered && !rule.is_watch)) continue;
    if (!is_for(book, rule, call)) continue;
    if (!is_ours.has_value()) is_ours = is_of_program(call.thread);
    if (!*is_ours) return {};
    std::uint64_t n = add_one(rule.matches);
    if (rule.is_per_thread) n = number_of_thread(book, i, call.thread);
    if (n == 0) add_one(rule.unnumbered);
    if (n == 0 || !is_chosen(rule.choice, n)) continue;
    keep_hit(rule, rule.hits.load(std::memory_order_relaxed) + 1, call);
    add_one(rule.hits);
    if (verdict.is_answered) continue;
    verdict.delay_ns += rule.delay_ns;
    verdict.is_answered = rule.answers;
    verdict.result = rule.result;
  }
  return verdict;
}

/// True if the thread belongs to the measured process, makes a call of the program, and the program is still the one
/// that made the rules. The thread waits, so the answer stays true.
bool FaultJudge::is_of_program(std::int32_t thread) const {
  if (thread <= 0 || static_cast<std::size_t>(thread) >= kThreadIds) return false;
  const pid_t measured = shared_.measured.load(std::memory_order_relaxed);
  return shared_.faults->own_work[thread].load(std::memory_order_acquire) == 0 && is_of_process(measured, thread) &&
         (!shared_.faults->has_executed.load(std::memory_order_relaxed) || image_.is_of(measured));
}

/// A program that replaces the measured one keeps its process id, and the rules would hit it.
void FaultJudge::note_execution(const Notification& call) {
  if (call.number != SYS_execve && call.number != SYS_execveat) return;
  if (is_of_process(shared_.measured.load(std::memory_order_relaxed), call.thread)) shared_.faults->has_executed = true;
}

}  // namespace syscost::seccomp
