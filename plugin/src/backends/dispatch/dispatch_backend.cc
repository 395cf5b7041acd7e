// SPDX-License-Identifier: MIT
#include "backends/dispatch/dispatch_backend.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "backends/common/counts.h"
#include "backends/common/self_test.h"
#include "backends/dispatch/ability.h"
#include "backends/dispatch/memory.h"
#include "backends/dispatch/patches.h"
#include "backends/dispatch/probe.h"
#include "backends/dispatch/segments.h"
#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub_calls.h"
#include "backends/dispatch/threads.h"
#include "os/memory.h"

namespace syscost::dispatch {
namespace {

using signal_safe::Guard;
using signal_safe::kLanes;
using signal_safe::Thread;

Guard between_windows() {
  return signal_safe::EntryPoint::enter();
}

// So many calls take some microseconds. Reading the clock takes a hundredth of that time.
constexpr int kCalibrationCalls = 60;

// A later backend of the process continues the generations, because records in the log name them.
std::atomic<Generation> last_generation{0};
std::atomic<bool> is_open{false};

class DispatchBackend final : public Backend {
 public:
  explicit DispatchBackend(Patching patching)
      : patching_(patching), name_(patching == Patching::never ? "dispatch-trap" : "dispatch") {}
  ~DispatchBackend() override;
  DispatchBackend(const DispatchBackend&) = delete;
  DispatchBackend& operator=(const DispatchBackend&) = delete;

  Result<void> start(const BackendRequest& request, double unobserved_ns, const ClockRate& clock);
  /// Counts only the calls that `filter` selects from now on; the others are neither counted nor lost. Call it after
  /// start(), because the filter may leave out the calls of its proof.
  void select(const Filter& filter);
  /// Makes the abilities that the request wishes, or that cost nothing. Those that are made after calibration: after
  /// start().
  Result<void> make_abilities(const BackendRequest& request, bool before_calibration);
  /// Call it after start(), which finds out if there are older threads.
  void start_file_kinds();

  std::string_view name() const override { return name_; }
  Capabilities capabilities() const override {
    return {.calls = true,
            .errors = true,
            .latency = syscost_state.ns_per_tick != 0,
            .carried_in = true,
            .bytes = BytesKnown::but_foreign_lengths,
            .altered = true,
            .threads = true,
            .lanes = kLanes - 1};
  }
  Calibration calibration() const override { return calibration_; }

  std::optional<AcquiredLane> acquire_lane() override;
  Generation boundary(Lane lane, Next next) override { return lanes_.boundary(lane, next); }
  bool tell_threads_apart() override {
    lanes_.open(signal_safe::calling_thread(between_windows()));
    return true;
  }
  bool told_threads_apart() const override { return !has_mixed_threads_; }
  std::uint64_t* process_control() override { return &syscost_state.lanes[0].control; }
  void read(Lane lane, CallTable& into) override;
  void read_crossings(CrossingSink& sink) override;
  Losses losses() const override { return {late_, segments_.lost()}; }
  Result<std::uint64_t> hidden_losses() override;
  std::uint64_t hidden_losses_beside_scopes() const override { return losses_of_unseen_; }
  Result<void> detach() override;
  Result<void> attach() override;
  /// The kernel arms only the thread that asks for it.
  bool attaches_on_any_thread() const override { return false; }
  std::string remark() const override { return remark_; }
  std::string arrangement() const override {
    return patching_ == Patching::allowed ? Patches::describe_coverage() : std::string();
  }

 private:
  void* find_extension(std::string_view name) override { return find_among(abilities_, name); }
  Result<void> prove();
  /// Counts the other threads of this process: notes if the opener is alone, and which threads are never seen.
  void count_others();
  void add_remark(const std::string& text);
  /// All hidden losses are of threads that get no lane.
  std::uint64_t count_losses() { return losses_of_unseen_ = unwatched_.count_losses() + older_.count_losses(); }

  Patching patching_;
  const std::string_view name_;
  Patches patches_;
  Segments segments_;
  const Filter* filter_ = nullptr;
  Lanes lanes_{last_generation.load()};
  std::uint64_t late_ = 0;
  std::uint64_t losses_of_unseen_ = 0;
  Thread* opener_ = nullptr;    // the thread that was armed by us
  Thread* detached_ = nullptr;  // the thread that runs a loop's timed passes
  UnwatchedThreads unwatched_;
  OlderThreads older_;
  bool has_signals_ = false;
  bool has_mixed_threads_ = false;  // some counted in cells that they share
  Calibration calibration_;
  std::string remark_;
  AskedKinds kinds_;
  Abilities abilities_;  // last: they use what stands above
};

// ---- start and end --------------------------------------------------------------------------------------------------

Result<void> DispatchBackend::start(const BackendRequest& request, double unobserved_ns, const ClockRate& clock) {
  const Guard guard = between_windows();
  opener_ = signal_safe::calling_thread(guard);
  if (opener_ == nullptr) opener_ = signal_safe::take_thread(guard);
  if (opener_ == nullptr) return Failure{"too many threads", "choose another backend"};
  if (long error = signal_safe::take_signals_over(guard, *opener_); error < 0) {
    return errno_failure("install", "a SIGSYS handler", static_cast<int>(-error));
  }
  has_signals_ = true;
  if (long error = signal_safe::arm_calling_thread(guard, *opener_); error < 0) {
    return errno_failure("arm", "Syscall User Dispatch", static_cast<int>(-error));
  }
  signal_safe::let_sigsys_through(*opener_);
  std::atomic_ref(syscost_selector).store(1);
  // Before anything is patched: from then on older threads pass the stub, too.
  count_others();
  start_user_copies(patching_ == Patching::allowed);
  if (Result<void> proof = prove(); !proof.ok()) return proof;
  if (patching_ == Patching::allowed) {
    if (const std::string why_not = patches_.apply(); !why_not.empty()) {
      patching_ = Patching::never;
      add_remark("every call is trapped, none patched: " + why_not);
    }
  }
  clock.settle();
  // After the proof, which knows no abilities; before the calls that show what counting costs.
  if (Result<void> made = make_abilities(request, true); !made.ok()) return made;
  // A trapped call takes about ten times as long as a patched one, so fewer of them are enough.
  constexpr int kTrapped = 20;
  const double observed_ns = getppid_ns(patching_ == Patching::never ? kTrapped : kCalibrationCalls);
  calibration_ = added_by_counting(observed_ns, unobserved_ns);
  boundary(Lane::kProcess, Next::kDisarm);
  CallTable thrown_away(&quiet_memory());
  read(Lane::kProcess, thrown_away);
  return {};
}

void DispatchBackend::count_others() {
  // Set it first: if a signal handler makes a thread while they are counted, that thread resets it.
  std::atomic_ref(syscost_is_alone).store(1);
  forget_ended_threads();
  const std::size_t threads = count_threads();
  if (threads != 1) std::atomic_ref(syscost_is_alone).store(0);
  const std::size_t older = count_unseen_threads(threads);
  std::atomic_ref(syscost_has_older_threads).store(older > 0 || threads == 0 ? 1 : 0);
  older_.begin(older);
  if (older > 0) {
    add_remark(std::to_string(older) + (older == 1 ? " thread is" : " threads are") +
               " older than the backend: dispatch does not see their calls; a window in which one of them ran has lost "
               "events");
  }
}

void DispatchBackend::add_remark(const std::string& text) {
  remark_.append(remark_.empty() ? "" : "; ").append(text);
}

/// Leaves the lane of the process armed.
Result<void> DispatchBackend::prove() {
  boundary(Lane::kProcess, Next::kArm);
  for (std::uint64_t i = 0; i < kKnownCalls; ++i) make_dispatched_call(SYS_getppid);
  boundary(Lane::kProcess, Next::kArm);
  CallTable counted(&quiet_memory());
  read(Lane::kProcess, counted);
  const std::uint64_t calls = counted.at({Abi::x86_64, SYS_getppid}).calls;
  if (calls == kKnownCalls) return {};
  return Failure{
      "the dispatch stub counted " + std::to_string(calls) + " of " + std::to_string(kKnownCalls) + " known calls",
      "report this with the output of --syscost_doctor and uname -a"};
}

DispatchBackend::~DispatchBackend() {
  const Guard guard = between_windows();
  // If a jump cannot be taken away, threads that are not watched any more run into it.
  std::atomic_ref(syscost_has_older_threads).store(1);
  forget_ended_threads();
  // A thread that a timed pass made has not passed the stub. It may be in code that undo() would take away.
  if (syscost_is_alone != 0 && count_threads() != 1) std::atomic_ref(syscost_is_alone).store(0);
  patches_.undo();
  disarm_every_lane();
  std::atomic_ref(syscost_is_alone).store(0);
  last_generation.store(lanes_.generation());
  std::atomic_ref(syscost_selector).store(0);
  if (opener_ != nullptr && signal_safe::calling_thread(guard) == opener_) {
    signal_safe::disarm_calling_thread(guard, count_armed_threads() == 1);
    signal_safe::set_gs_base(nullptr);
    signal_safe::give_thread_back(guard, *opener_);
  }
  if (has_signals_) {
    const bool with_handlers = !signal_safe::holds_trapped_calls(guard, nullptr);
    if (count_armed_threads() == 0) {
      signal_safe::give_signals_back(guard, with_handlers);
    } else if (with_handlers) {
      signal_safe::give_handlers_back(guard);
    }
  }
  is_open.store(false);
}

// ---- what is counted ------------------------------------------------------------------------------------------------

static_assert(Filter::kNumbers == signal_safe::kNumbers);

void DispatchBackend::select(const Filter& filter) {
  filter_ = &filter;
  signal_safe::Directory& directory = syscost_state.directory;
  for (std::uint32_t index = 0; index < signal_safe::kAbis * signal_safe::kNumbers; ++index) {
    const SyscallId id{static_cast<Abi>(index / signal_safe::kNumbers), index % signal_safe::kNumbers};
    if (!filter.selects(id)) std::atomic_ref(directory.slot_of[index]).store(signal_safe::kNotSelected);
  }
  std::atomic_ref(directory.ignores_unlisted).store(filter.may_select_beyond() ? 0 : 1);
}

Result<void> DispatchBackend::make_abilities(const BackendRequest& request, bool before_calibration) {
  const AbilityContext context{request, abilities_, lanes_, *opener_, patching_ == Patching::allowed, [this] {
                                 return older_.count_unseen() + unwatched_.count_unseen();
                               }};
  for (const AbilityMaker& maker : ability_makers()) {
    if (maker.is_before_calibration != before_calibration) continue;
    MadeAbility made = maker.make(context);
    if (!made.ok()) return made.failure();
    if (made.value() == nullptr) continue;
    if (const std::string remark = made.value()->remark(); !remark.empty()) add_remark(remark);
    abilities_.push_back(std::move(made.value()));
  }
  return {};
}

void DispatchBackend::start_file_kinds() {
  kinds_.start(patching_ == Patching::allowed);
  if (!kinds_.why_not().empty()) add_remark("the kinds of files are unknown: " + kinds_.why_not());
}

// ---- windows --------------------------------------------------------------------------------------------------------

std::optional<AcquiredLane> DispatchBackend::acquire_lane() {
  const Guard guard = between_windows();
  Thread* thread = signal_safe::calling_thread(guard);
  if (thread == nullptr) return std::nullopt;  // older than us: its calls are not seen
  return lanes_.acquire(*thread);
}

void DispatchBackend::read(Lane lane, CallTable& into) {
  late_ += Segments::wait_for_recordings();
  const std::uint32_t bank = lanes_.ended_bank(lane);
  if (!Segments::take(lane, bank, lanes_, into)) has_mixed_threads_ = true;
  drop_unselected(filter_, into);
}

void DispatchBackend::read_crossings(CrossingSink& sink) {
  SelectedCrossings wanted(sink, filter_);
  segments_.take_crossings(lanes_, wanted);
}

// ---- between windows ------------------------------------------------------------------------------------------------

Result<std::uint64_t> DispatchBackend::hidden_losses() {
  if (Result<void> counts = check_still_dispatched(); !counts.ok()) return counts.failure();
  kinds_.check();
  for (const std::unique_ptr<Ability>& one : abilities_) one->check();
  return count_losses();
}

Result<void> DispatchBackend::detach() {
  const Guard guard = between_windows();
  // A sanitizer's thread that ends asks the kernel for its signal stack, and unmaps the answer. Detached, the kernel
  // would name ours.
  if (has_signal_stack_sanitizer() && count_armed_threads() > 1) {
    return Failure{"other threads run, and the sanitizer of this program unmaps the signal stack of a thread that ends",
                   "measure times without the sanitizer"};
  }
  kinds_.pause();
  unwatched_.begin_timed_passes();
  detached_ = signal_safe::calling_thread(guard);
  // The signal stacks of other threads are ours, so their handlers still need our handler.
  const bool is_last = detached_ != nullptr && count_armed_threads() == 1;
  if (detached_ != nullptr) signal_safe::disarm_calling_thread(guard, is_last);
  std::atomic_ref(syscost_selector).store(0);
  if (is_last) signal_safe::give_signals_back(guard, true);
  return {};
}

Result<void> DispatchBackend::attach() {
  if (Result<void> counts = check_not_aside(); !counts.ok()) return counts;
  const Guard guard = between_windows();
  Thread* thread = std::exchange(detached_, nullptr);
  // While it was not watched, the thread may have blocked SIGSYS or set a handler for it.
  if (thread != nullptr) static_cast<void>(signal_safe::take_signals_over(guard, *thread));
  std::atomic_ref(syscost_state.pauses).fetch_add(1);
  std::atomic_ref(syscost_selector).store(1);
  unwatched_.end_timed_passes();
  kinds_.resume();
  check_user_copies();
  for (const std::unique_ptr<Ability>& one : abilities_) one->end_unseen();
  if (thread == nullptr) return {};
  if (long error = signal_safe::arm_calling_thread(guard, *thread); error < 0) {
    return errno_failure("arm", "Syscall User Dispatch", static_cast<int>(-error));
  }
  signal_safe::let_sigsys_through(*thread);
  // Threads that it made meanwhile have not passed the stub.
  if (syscost_is_alone != 0 && count_threads() != 1) std::atomic_ref(syscost_is_alone).store(0);
  return {};
}

}  // namespace

Result<void> try_backend() {
  if (Result<void> counts = check_not_aside(); !counts.ok()) return counts;
  if (Result<void> possible = check_requirements(); !possible.ok()) return possible;
  if (Result<void> memory = reserve_memory(); !memory.ok()) return memory;
  return try_in_child();
}

Result<std::unique_ptr<Backend>> open_backend(Patching patching, const BackendRequest& request) {
  if (Result<void> counts = check_not_aside(); !counts.ok()) return counts.failure();
  if (Result<void> possible = check_requirements(); !possible.ok()) return possible.failure();
  if (is_open.exchange(true)) {
    return Failure{"dispatch is open in this process already", "close the other one first"};
  }
  auto fail = [](const Failure& failure) {
    is_open.store(false);
    return failure;
  };
  if (Result<void> memory = reserve_memory(); !memory.ok()) return fail(memory.failure());
  const ClockRate clock;
  const double unobserved_ns = getppid_ns(kCalibrationCalls);
  if (Result<void> tried = try_in_child(); !tried.ok()) return fail(tried.failure());
  auto backend = std::make_unique<DispatchBackend>(patching);
  if (Result<void> started = backend->start(request, unobserved_ns, clock); !started.ok()) return started.failure();
  if (request.filter != nullptr) backend->select(*request.filter);
  if (Result<void> made = backend->make_abilities(request, false); !made.ok()) return made.failure();
  if (request.details.files) backend->start_file_kinds();
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace syscost::dispatch
