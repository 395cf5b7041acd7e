// SPDX-License-Identifier: MIT
#include "extras/faults/dispatch/fault_injector.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "arguments/arguments.h"
#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/signals.h"
#include "core/backend.h"
#include "extras/faults/stub/rules.h"
#include "extras/trace/stub/trace.h"
#include "os/spin_lock.h"

namespace syscost::dispatch {
namespace {

using signal_safe::count_in;
using signal_safe::first_count;
using signal_safe::Guard;
using signal_safe::kFaultRules;
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

/// Higher than all before. Counts keep 16 bits of it, and 0 is that of none.
std::uint64_t next_generation() {
  ++g_generation;
  if (first_count(g_generation) == 0) ++g_generation;
  return g_generation;
}

std::uint64_t threshold_of(double probability) {
  if (!(probability < 1)) return ~std::uint64_t{0};
  if (!(probability > 0)) return 0;
  return static_cast<std::uint64_t>(std::ldexp(probability, 64));
}

void mark_numbers() {
  signal_safe::NumberSet all{};
  for (std::uint32_t link = syscost_faults.newest; link != 0; link = syscost_faults.rule[link - 1].older) {
    const Rule& rule = syscost_faults.rule[link - 1];
    for (std::size_t word = 0; word < std::size(all.word); ++word) all.word[word] |= rule.numbers.word[word];
  }
  signal_safe::set_marks(signal_safe::kMarkedByFaults, all);
}

/// From the tables of arguments' names.
void learn_file_arguments() {
  static bool is_known = false;
  if (std::exchange(is_known, true)) return;
  signal_safe::FileArguments& all = syscost_file_arguments;
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    std::uint32_t bit = 1;
    for (const SyscallArgument& argument : syscall_arguments({Abi::x86_64, number})) {
      const bool is_directory = argument.kind == ArgumentKind::directory;
      const auto add = [bit](std::uint8_t& bits) { bits = static_cast<std::uint8_t>(bits | bit); };
      if (argument.kind == ArgumentKind::descriptor || is_directory) add(all.descriptors[number]);
      if (is_directory) add(all.directories[number]);
      if (argument.kind == ArgumentKind::path) add(all.paths[number]);
      bit <<= 1;
    }
  }
}

void put_path(signal_safe::RulePath& into, const std::string& path) {
  into.bytes = static_cast<std::uint32_t>(path.size());
  path.copy(into.text, sizeof into.text);
}

/// Fails with the reason if the stub cannot follow the rule's file.
Result<void> check_file(const FaultRule& wanted) {
  if (!wanted.has_file()) return {};
  if (std::max(wanted.path.size(), wanted.real_path.size()) >= signal_safe::kMaxRulePath) {
    return Failure{"the path of a fault is longer than 511 bytes", "name a folder above it"};
  }
  const bool needs_kernel = !wanted.path.empty() || wanted.kinds != 0;
  if (needs_kernel && now(syscost_string_copies.may_be_filtered)) {
    return Failure{"the program has installed a seccomp filter, and a fault of a file makes calls of its own",
                   "leave the file out of the fault"};
  }
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    const bool has_file = (syscost_file_arguments.descriptors[number] | syscost_file_arguments.paths[number]) != 0;
    if (wanted.numbers.test(number) && has_file) return {};
  }
  return Failure{"no call that is selected has a file", "leave the file out of the fault, or select other calls"};
}

/// Takes the rule out of the list. It still leads on: a thread may be at it.
void stop_rule(Rule& rule) {
  if (now(rule.generation) == 0) return;
  std::atomic_ref(rule.generation).store(0);
  const auto link = static_cast<std::uint32_t>(&rule - syscost_faults.rule) + 1;
  std::uint32_t* at = &syscost_faults.newest;
  while (*at != link) at = &syscost_faults.rule[*at - 1].older;
  std::atomic_ref(*at).store(rule.older);
  mark_numbers();
}

void close_all() {
  for (Rule& rule : syscost_faults.rule) {
    // Not written to for nothing: that would take memory.
    if (rule.is_taken == 0) continue;
    std::atomic_ref(rule.generation).store(0);
    rule.is_taken = 0;
  }
  std::atomic_ref(syscost_faults.newest).store(0);
  mark_numbers();
}

/// A place for hits that no rule has: its number + 1; 0 = there is none.
std::uint32_t free_keeper() {
  std::uint32_t used = 0;
  for (const Rule& rule : syscost_faults.rule) {
    if (rule.is_taken != 0 && rule.keeper != 0) used |= 1U << (rule.keeper - 1);
  }
  for (std::uint32_t i = 0; i < signal_safe::kHitKeepers; ++i) {
    if ((used >> i & 1) == 0) return i + 1;
  }
  return 0;
}

/// Null if it is closed and its place has another rule by now.
Rule* rule_of(FaultId id) {
  if (id.generation == 0 || id.place >= kFaultRules) return nullptr;
  Rule& rule = syscost_faults.rule[id.place];
  return now(rule.opened) == id.generation ? &rule : nullptr;
}

}  // namespace

Faults::~Faults() {
  const std::lock_guard guard(g_lock);
  close_all();
}

Result<FaultId> Faults::open(const FaultRule& wanted) {
  Thread* const thread = signal_safe::calling_thread(enter());
  if (thread == nullptr) {
    return Failure{"backend dispatch does not see this thread's calls: the thread is older than the backend",
                   "start it when the tests have begun, or use --syscost_backend seccomp (docs/faults.md)"};
  }
  const std::lock_guard guard(g_lock);
  if (wanted.has_file() || wanted.keeps_hits) learn_file_arguments();
  if (Result<void> file = check_file(wanted); !file.ok()) return file.failure();
  std::uint32_t place = 0;
  while (place < kFaultRules && syscost_faults.rule[place].is_taken != 0) ++place;
  if (place == kFaultRules) {
    return Failure{"more than " + std::to_string(kFaultRules) + " faults are open at once", "end some of them first"};
  }
  const std::uint32_t keeper = wanted.keeps_hits ? free_keeper() : 0;
  if (wanted.keeps_hits && keeper == 0) {
    return Failure{"more than " + std::to_string(signal_safe::kHitKeepers) + " Forbid are open at once",
                   "end some of them first"};
  }
  Rule& rule = syscost_faults.rule[place];
  const std::uint64_t generation = next_generation();
  std::atomic_ref(rule.opened).store(generation);
  // A thread that still looks at the place's last rule finds another generation in the counts, and counts nothing.
  for (signal_safe::FaultCount* count : {&rule.matches, &rule.hits, &rule.moved, &rule.unnumbered, &rule.filtered}) {
    std::atomic_ref(*count).store(first_count(generation));
  }
  signal_safe::clear_fault_place(place, generation);
  rule.numbers = {};
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (wanted.numbers.test(number)) rule.numbers.add(number);
  }
  rule.thread = wanted.is_process_wide ? nullptr : thread;
  rule.thread_id = now(thread->id);
  rule.is_watch = wanted.is_watch ? 1 : 0;
  rule.keeper = keeper;
  rule.is_per_thread = wanted.is_per_thread ? 1 : 0;
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
  rule.file.is_any = wanted.has_file() ? 0 : 1;
  rule.file.descriptor = wanted.descriptor.value_or(-1);
  rule.file.kinds = wanted.kinds;
  rule.file.is_prefix = wanted.is_path_below ? 1 : 0;
  if (wanted.has_file()) {
    put_path(rule.file.named, wanted.path);
    put_path(rule.file.opened, wanted.real_path);
  }
  rule.is_taken = 1;
  // A thread that is still at the place's last rule goes on with the newest from here.
  std::atomic_ref(rule.older).store(syscost_faults.newest);
  std::atomic_ref(rule.generation).store(generation);
  std::atomic_ref(syscost_faults.newest).store(place + 1);
  mark_numbers();
  return FaultId{place, generation};
}

FaultCounts Faults::counts(FaultId id) const {
  const Rule* const rule = rule_of(id);
  if (rule == nullptr) return {};
  return {count_in(now(rule->matches)), count_in(now(rule->hits)), count_in(now(rule->unnumbered)),
          count_in(now(rule->filtered))};
}

Result<void> Faults::begin_stacks() {
  Thread* const thread = signal_safe::calling_thread(enter());
  const std::lock_guard guard(g_lock);
  if (stacks() != nullptr) {
    CallStacks::check_modules();
    return {};
  }
  if (thread == nullptr) return Failure{"backend dispatch does not see this thread's calls", "forbid them elsewhere"};
  Result<std::shared_ptr<CallStacks>> stacks = CallStacks::start(*thread, StacksOf::rare_calls);
  if (!stacks.ok()) return stacks.failure();
  stacks_ = std::move(stacks.value());
  return {};
}

std::vector<FaultHit> Faults::hits(FaultId id) const {
  std::vector<FaultHit> found;
  const Rule* const rule = rule_of(id);
  if (rule == nullptr || rule->keeper == 0) return found;
  for (const signal_safe::FaultHit& hit : syscost_faults.kept[rule->keeper - 1]) {
    if (now(hit.ready) != id.generation) continue;
    FaultHit& one = found.emplace_back();
    one.number = static_cast<std::uint32_t>(hit.number);
    std::copy(std::begin(hit.arguments), std::end(hit.arguments), one.arguments.begin());
    if (hit.is_answered != 0) one.result = hit.result;
    one.thread = hit.thread;
    one.stack = hit.stack;
    for (const signal_safe::HitPath& path : hit.path) {
      if (path.is_kept == 0) continue;
      one.paths.push_back({path.argument, std::string(path.text, path.bytes), path.is_cut != 0});
    }
  }
  return found;
}

void Faults::stop(FaultId id) {
  const std::lock_guard guard(g_lock);
  if (Rule* const rule = rule_of(id)) stop_rule(*rule);
}

void Faults::close(FaultId id) {
  const std::lock_guard guard(g_lock);
  Rule* const rule = rule_of(id);
  if (rule == nullptr) return;
  stop_rule(*rule);
  rule->is_taken = 0;
}

Result<void> Faults::begin_in_fork_child() {
  const Guard guard = enter();
  // Another thread of the parent may have held it.
  g_lock.unlock();
  close_all();
  // Not that of the parent's thread, of which a call is under way.
  Thread* const thread = signal_safe::take_thread(guard);
  if (thread == nullptr) return Failure{"too many threads", "test the failures in a process with fewer"};
  if (const long error = signal_safe::take_signals_over(guard, *thread); error < 0) {
    return errno_failure("install", "a SIGSYS handler", static_cast<int>(-error));
  }
  if (const long error = signal_safe::arm_calling_thread(guard, *thread); error < 0) {
    return errno_failure("arm", "Syscall User Dispatch", static_cast<int>(-error));
  }
  signal_safe::let_sigsys_through(*thread);
  // The parent may be in a loop's timed pass.
  std::atomic_ref(syscost_state.pauses).fetch_add(1);
  std::atomic_ref(syscost_selector).store(1);
  return {};
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

MadeAbility make_fault_injector(const AbilityContext& context) {
  const auto* const of_calls = static_cast<StackSource*>(find_among(context.made, StackSource::kExtension));
  return std::unique_ptr<Ability>(std::make_unique<Faults>(context.count_unseen_threads, of_calls));
}

}  // namespace syscost::dispatch
