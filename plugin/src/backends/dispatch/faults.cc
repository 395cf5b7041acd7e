// SPDX-License-Identifier: MIT
#include "backends/dispatch/faults.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/faults.h"
#include "os/spin_lock.h"

namespace syscost::dispatch {
namespace {

using signal_safe::count_in;
using signal_safe::Guard;
using signal_safe::kFaultRules;
using signal_safe::kGenerationAt;
using signal_safe::Thread;
using Rule = signal_safe::FaultRule;

// One for all backends of the process: an older one may be closed while a newer one is open.
SpinLock g_lock;
std::uint64_t g_generation = 0;

template <class T>
T now(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

Guard enter() {
  return signal_safe::EntryPoint::enter();
}

/// Counts have 16 bits for it; 0 = closed.
std::uint64_t next_generation() {
  constexpr std::uint64_t kMost = 0xffff;
  g_generation = g_generation == kMost ? 1 : g_generation + 1;
  return g_generation;
}

std::uint64_t threshold_of(double probability) {
  if (!(probability < 1)) return ~std::uint64_t{0};
  if (!(probability > 0)) return 0;
  return static_cast<std::uint64_t>(std::ldexp(probability, 64));
}

void mark_numbers() {
  signal_safe::NumberSet all{};
  for (std::uint32_t i = 0; i < syscost_faults.high; ++i) {
    const Rule& rule = syscost_faults.rule[i];
    if (now(rule.generation) == 0) continue;
    for (std::size_t word = 0; word < std::size(all.word); ++word) all.word[word] |= rule.numbers.word[word];
  }
  signal_safe::set_marks(signal_safe::kMarkedByFaults, all);
}

void close_place(Rule& rule) {
  std::atomic_ref(rule.generation).store(0);
  std::uint32_t high = syscost_faults.high;
  while (high > 0 && now(syscost_faults.rule[high - 1].generation) == 0) --high;
  std::atomic_ref(syscost_faults.high).store(high);
  mark_numbers();
}

const Rule* rule_of(FaultId id) {
  if (id.generation == 0 || id.place >= kFaultRules) return nullptr;
  const Rule& rule = syscost_faults.rule[id.place];
  return now(rule.matches) >> kGenerationAt == id.generation ? &rule : nullptr;
}

}  // namespace

Faults::~Faults() {
  const std::lock_guard guard(g_lock);
  for (std::uint32_t i = syscost_faults.high; i-- > 0;) {
    std::atomic_ref(syscost_faults.rule[i].generation).store(0);
  }
  std::atomic_ref(syscost_faults.high).store(0);
  mark_numbers();
}

Result<FaultId> Faults::open(const FaultRule& wanted) {
  Thread* const thread = signal_safe::calling_thread(enter());
  if (thread == nullptr) {
    return Failure{"backend dispatch does not see this thread's calls: the thread is older than the backend",
                   "make the fault before the thread starts, or with Reach::process on another thread"};
  }
  const std::lock_guard guard(g_lock);
  // Above all that are open, because the last one is asked first.
  const std::uint32_t place = syscost_faults.high;
  if (place == kFaultRules) {
    return Failure{"more than " + std::to_string(kFaultRules) + " faults are open at once", "end some of them first"};
  }
  Rule& rule = syscost_faults.rule[place];
  const std::uint64_t generation = next_generation();
  // A thread that still looks at the place's last rule finds another generation in the counts, and counts nothing.
  for (signal_safe::FaultCount* count : {&rule.matches, &rule.hits, &rule.moved}) {
    std::atomic_ref(*count).store(generation << kGenerationAt);
  }
  rule.numbers = {};
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (wanted.numbers.test(number)) rule.numbers.add(number);
  }
  rule.thread = wanted.is_process_wide ? nullptr : thread;
  rule.thread_id = now(thread->id);
  rule.is_watch = wanted.is_watch ? 1 : 0;
  rule.keeps_hits = wanted.keeps_hits ? 1 : 0;
  rule.answers = wanted.result.has_value() ? 1 : 0;
  rule.result = wanted.result.value_or(0);
  rule.first = wanted.first;
  rule.last = wanted.last;
  rule.step = wanted.step;
  rule.threshold = threshold_of(wanted.probability);
  rule.seed = wanted.seed;
  rule.has_bytes = wanted.after_bytes.has_value() ? 1 : 0;
  rule.bytes_left = wanted.after_bytes.value_or(0);
  rule.shortens = wanted.most_bytes.has_value() ? 1 : 0;
  rule.most_bytes = wanted.most_bytes.value_or(0);
  rule.delay_enter_ns = wanted.delay_enter_ns;
  rule.delay_exit_ns = wanted.delay_exit_ns;
  std::atomic_ref(rule.generation).store(generation);
  std::atomic_ref(syscost_faults.high).store(place + 1);
  mark_numbers();
  return FaultId{place, generation};
}

FaultCounts Faults::counts(FaultId id) const {
  const Rule* const rule = rule_of(id);
  return rule != nullptr ? FaultCounts{count_in(now(rule->matches)), count_in(now(rule->hits))} : FaultCounts{};
}

std::vector<FaultHit> Faults::hits(FaultId id) const {
  std::vector<FaultHit> found;
  const Rule* const rule = rule_of(id);
  if (rule == nullptr) return found;
  for (const signal_safe::FaultHit& hit : rule->hit) {
    if (now(hit.ready) != id.generation) continue;
    FaultHit& one = found.emplace_back();
    one.number = static_cast<std::uint32_t>(hit.number);
    std::copy(std::begin(hit.arguments), std::end(hit.arguments), one.arguments.begin());
    if (hit.is_answered != 0) one.result = hit.result;
    one.thread = hit.thread;
    one.stack = hit.stack;
  }
  return found;
}

void Faults::close(FaultId id) {
  const std::lock_guard guard(g_lock);
  if (id.place < kFaultRules && id.generation != 0 && now(syscost_faults.rule[id.place].generation) == id.generation) {
    close_place(syscost_faults.rule[id.place]);
  }
}

void* Faults::begin_own_work() {
  Thread* const thread = signal_safe::calling_thread(enter());
  if (thread != nullptr) std::atomic_ref(thread->own_work).fetch_add(1, std::memory_order_relaxed);
  return thread;
}

void Faults::end_own_work(void* thread) {
  if (thread != nullptr) {
    std::atomic_ref(static_cast<Thread*>(thread)->own_work).fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace syscost::dispatch
