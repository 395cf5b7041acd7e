// SPDX-License-Identifier: MIT
#include "extras/faults/seccomp/fault_injector.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <string>

#include "arguments/arguments.h"
#include "backends/seccomp/shared.h"

namespace syscost::seccomp {
namespace {

/// Results that the kernel keeps for itself: with a signal pending, it makes the call again, or turns the result into
/// EINTR.
constexpr std::int64_t kRestarts[] = {-512, -513, -514, -516};

Failure beyond(const std::string& why, const std::string& fix) {
  return {"backend seccomp answers calls in another process, which " + why, fix, /*is_beyond_backend=*/true};
}

std::uint64_t threshold_of(double probability) {
  if (!(probability < 1)) return FaultChoice::kAlways;
  if (!(probability > 0)) return 0;
  return static_cast<std::uint64_t>(std::ldexp(probability, 64));
}

/// Bit i: argument i of the syscall is a descriptor, and not the folder in which a path begins.
std::uint8_t descriptor_arguments(std::uint32_t number) {
  std::uint32_t found = 0;
  std::uint32_t bit = 1;
  for (const SyscallArgument& argument : syscall_arguments({Abi::x86_64, number})) {
    if (argument.kind == ArgumentKind::descriptor) found |= bit;
    bit <<= 1;
  }
  return static_cast<std::uint8_t>(found);
}

/// Until the supervisor has finished the call at which it may still look at a rule that was closed: some seconds at
/// most.
bool wait_until_unused(const Shared& shared) {
  constexpr int kTimes = 50;
  for (int i = 0; i < kTimes; ++i) {
    if (wait_for_supervisor(shared)) return true;
  }
  return false;
}

}  // namespace

Result<void> check_fault(const FaultRule& rule) {
  const std::string dispatch = "use --syscost_backend dispatch (--syscost_doctor says why it cannot be used here)";
  if (!rule.path.empty() || rule.kinds != 0) {
    return beyond("does not see which file a path or a descriptor stands for",
                  "choose calls by descriptor (on_descriptor(), fd=N), or " + dispatch);
  }
  if (rule.most_bytes.has_value()) {
    return beyond("cannot change a call's arguments, so it cannot shorten one", "let the call fail, or " + dispatch);
  }
  if (rule.after_bytes.has_value()) {
    return beyond("does not see how many bytes a call has moved", "let the n-th call fail, or " + dispatch);
  }
  if (rule.delay_exit_ns != 0 && !rule.result.has_value()) {
    return beyond("does not see the end of a call",
                  "let the thread wait before the call (delay_enter), or " + dispatch);
  }
  if (std::find(std::begin(kRestarts), std::end(kRestarts), rule.result.value_or(0)) != std::end(kRestarts)) {
    return Failure{"errno " + std::to_string(-*rule.result) +
                       " is the kernel's own: no program gets it, because the kernel makes such a call again",
                   "give one that a program can get, for example EINTR"};
  }
  return {};
}

Faults::Faults(Shared& shared, const ForkDetector& fork_detector)
    : shared_(shared), book_(shared.faults), fork_detector_(fork_detector) {}

Faults::~Faults() {
  if (fork_detector_.is_fork_child()) return;
  const std::lock_guard guard(lock_);
  for (std::uint32_t i = book_.high; i-- > 0;) book_.rule[i].generation.store(0);
  book_.high.store(0);
}

Result<void> Faults::check_here(const FaultRule& rule) {
  if (Result<void> possible = check_fault(rule); !possible.ok()) return possible;
  if (!shared_.is_wait_killable) {
    return Failure{
        "this kernel lets a signal interrupt a call while backend seccomp decides about it, so a fault could hit the "
        "call twice",
        "use Linux 5.19 or newer, or --syscost_backend dispatch", /*is_beyond_backend=*/true};
  }
  if (!shared_.notifies_everything) {
    return Failure{
        "backend seccomp was opened with --syscost_filter before a fault was expected, and sees no other call",
        "leave --syscost_filter out", /*is_beyond_backend=*/true};
  }
  if (!rule.descriptor.has_value()) return {};
  bool has_descriptor = false;
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (!knows_descriptors_) book_.descriptors[number].store(descriptor_arguments(number));
    has_descriptor = has_descriptor || (rule.numbers.test(number) && book_.descriptors[number] != 0);
  }
  knows_descriptors_ = true;
  if (has_descriptor) return {};
  return Failure{"no call that is selected has a file", "leave the file out of the fault, or select other calls"};
}

Result<FaultId> Faults::open(const FaultRule& wanted) {
  if (fork_detector_.is_fork_child()) return Failure{"this is a fork child", "make the fault in the test's process"};
  const std::int32_t thread = calling_thread(shared_);
  if (thread == 0)
    return Failure{"a seccomp filter answers gettid instead of the kernel", "allow gettid in the filter"};
  const std::lock_guard guard(lock_);
  if (Result<void> possible = check_here(wanted); !possible.ok()) return possible.failure();
  std::uint32_t place = 0;
  while (place < kFaultRules && book_.rule[place].generation != 0) ++place;
  if (place == kFaultRules) {
    return Failure{"more than " + std::to_string(kFaultRules) + " faults are open at once", "end some of them first"};
  }
  if (!wait_until_unused(shared_)) {
    return Failure{"the process that answers calls (syscost-count) does not go on", "do not stop it"};
  }
  BookedRule& rule = book_.rule[place];
  const std::uint64_t generation = ++book_.opened;
  rule.opened = generation;
  rule.matches = 0;
  rule.hits = 0;
  rule.unnumbered = 0;
  std::fill(std::begin(rule.numbers), std::end(rule.numbers), 0);
  for (std::uint32_t number = 0; number < FaultRule::kNumbers; ++number) {
    if (wanted.numbers.test(number)) rule.numbers[number / 64] |= std::uint64_t{1} << number % 64;
  }
  rule.thread = wanted.is_process_wide ? 0 : thread;
  rule.is_watch = wanted.is_watch;
  rule.keeps_hits = wanted.keeps_hits;
  rule.is_per_thread = wanted.is_per_thread;
  rule.answers = wanted.result.has_value();
  rule.is_for_descriptor = wanted.descriptor.has_value();
  rule.descriptor = wanted.descriptor.value_or(-1);
  rule.result = wanted.result.value_or(0);
  rule.choice = {wanted.first, wanted.last, wanted.step, threshold_of(wanted.probability), wanted.seed};
  rule.delay_ns = wanted.delay_enter_ns + wanted.delay_exit_ns;
  rule.generation.store(generation, std::memory_order_seq_cst);
  if (place >= book_.high) book_.high.store(place + 1, std::memory_order_seq_cst);
  return FaultId{place, generation};
}

const BookedRule* Faults::rule_of(FaultId id) const {
  if (id.generation == 0 || id.place >= kFaultRules || fork_detector_.is_fork_child()) return nullptr;
  const BookedRule& rule = book_.rule[id.place];
  return rule.opened == id.generation ? &rule : nullptr;
}

FaultCounts Faults::counts(FaultId id) const {
  const BookedRule* const rule = rule_of(id);
  return rule != nullptr ? FaultCounts{rule->matches.load(), rule->hits.load(), rule->unnumbered.load()}
                         : FaultCounts{};
}

std::vector<FaultHit> Faults::hits(FaultId id) const {
  std::vector<FaultHit> found;
  const BookedRule* const rule = rule_of(id);
  if (rule == nullptr || !rule->keeps_hits) return found;
  const std::uint64_t kept = std::min<std::uint64_t>(rule->hits.load(std::memory_order_acquire), kKeptHits);
  for (std::uint64_t i = 0; i < kept; ++i) {
    const NotedHit& hit = rule->hit[i];
    FaultHit& one = found.emplace_back();
    one.number = hit.number;
    std::copy(std::begin(hit.arguments), std::end(hit.arguments), one.arguments.begin());
    if (rule->answers) one.result = rule->result;
    one.thread = hit.thread;
  }
  return found;
}

void Faults::close(FaultId id) {
  const BookedRule* const found = rule_of(id);
  if (found == nullptr) return;
  const std::lock_guard guard(lock_);
  BookedRule& rule = book_.rule[id.place];
  if (rule.generation != id.generation) return;
  rule.generation.store(0, std::memory_order_seq_cst);
  std::uint32_t high = book_.high;
  while (high > 0 && book_.rule[high - 1].generation == 0) --high;
  book_.high.store(high, std::memory_order_seq_cst);
}

void* Faults::begin_own_work() {
  if (fork_detector_.is_fork_child()) return nullptr;
  const std::int32_t thread = calling_thread(shared_);
  if (thread == 0) return nullptr;
  book_.own_work[thread].fetch_add(1, std::memory_order_acq_rel);
  return &book_.own_work[thread];
}

void Faults::end_own_work(void* thread) {
  if (thread == nullptr || fork_detector_.is_fork_child()) return;
  static_cast<std::atomic<std::uint8_t>*>(thread)->fetch_sub(1, std::memory_order_acq_rel);
}

std::unique_ptr<Ability> make_faults(Shared& shared, const ForkDetector& fork_detector) {
  return std::make_unique<Faults>(shared, fork_detector);
}

}  // namespace syscost::seccomp
