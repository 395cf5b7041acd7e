// SPDX-License-Identifier: MIT
#include "backends/seccomp/seccomp_backend.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "backends/common/lane_holder.h"
#include "backends/common/self_test.h"
#include "backends/seccomp/ability.h"
#include "backends/seccomp/filters.h"
#include "backends/seccomp/installation.h"
#include "backends/seccomp/listener.h"
#include "backends/seccomp/shared.h"
#include "core/extensions.h"
#include "os/memory.h"
#include "os/own_calls.h"
#include "os/spin_lock.h"

namespace syscost::seccomp {
namespace {

class SeccompBackend final : public Backend, private ProgramReader {
 public:
  SeccompBackend(Shared& shared, const Filter* filter)
      : shared_(shared),
        filter_(filter),
        counts_children_(shared.counts_children),
        takeovers_(shared.takeovers.load()),
        tracer_filters_(shared.tracer_filters.load()) {
    for (const AbilityMaker make : ability_makers()) abilities_.push_back(make(shared, fork_detector_));
  }

  std::string_view name() const override { return "seccomp"; }
  Capabilities capabilities() const override {
    return {.entries = true,
            .altered = true,
            // The first calls of a thread may be left out.
            .threads = filter_ == nullptr,
            .programs = counts_children_,
            .lanes = kLanes - 1,
            .uncountable = kUncountable};
  }
  Calibration calibration() const override { return calibration_; }

  std::optional<AcquiredLane> acquire_lane() override;
  Generation boundary(Lane lane, Next next) override;
  bool tell_threads_apart() override;
  std::uint64_t* process_control() override {
    static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
    return reinterpret_cast<std::uint64_t*>(&shared_.lanes[0].control);
  }
  void read(Lane lane, CallTable& into) override;
  void read_programs(ProgramTables& into) override;
  // This backend sees no ends of calls, so none can end in a later segment.
  void read_crossings(CrossingSink&) override {}
  Losses losses() const override {
    return is_fork_child() ? Losses{} : Losses{late_, shared_.lost.load(std::memory_order_relaxed)};
  }
  Result<std::uint64_t> hidden_losses() override;
  Result<void> detach() override {
    return Failure{"a seccomp filter cannot be removed, and every call pays for it",
                   "use another backend for times, or a Google Benchmark, which is counted in a process of its own"};
  }
  Result<void> attach() override { return {}; }

  /// Proves that it counts, and measures the time that counting adds to a call. `unobserved_ns`: the time of that call
  /// without counting.
  Result<void> prove_and_calibrate(double unobserved_ns);

 private:
  void* find_extension(std::string_view name) override {
    if (void* const found = find_among(abilities_, name)) return found;
    return pick<ProgramReader>(name, this);
  }
  struct LaneState {
    std::uint32_t bank = 0;        // of the current or, when disarmed, the last segment
    std::uint32_t ended_bank = 0;  // of the segment that the last boundary ended
    std::int32_t thread = 0;       // that had it last
    LaneHolder holder;             // the thread inside a scope
  };
  LaneState& state(Lane lane) { return lanes_[static_cast<std::uint32_t>(lane)]; }
  // It has no shared memory: each function asks first.
  bool is_fork_child() const { return fork_detector_.is_fork_child(); }
  std::uint32_t programs_used() const { return shared_.programs_used.load(std::memory_order_acquire); }

  Shared& shared_;
  const Filter* filter_;
  const bool counts_children_;
  const ForkDetector fork_detector_;
  std::array<LaneState, kLanes> lanes_;
  std::uint32_t opening_ = 0;   // in Shared::openings
  std::int32_t opened_by_ = 0;  // by the supervisor's PID namespace
  SpinLock lanes_lock_;         // of the holders and of who had a lane last
  Generation generation_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t takeovers_;
  std::uint64_t tracer_filters_;
  Abilities abilities_;
  Calibration calibration_;
};

// ---- lanes ----------------------------------------------------------------------------------------------------------

std::optional<AcquiredLane> SeccompBackend::acquire_lane() {
  if (is_fork_child()) return std::nullopt;
  const std::int32_t thread = calling_thread(shared_);
  if (thread == 0) return std::nullopt;
  std::lock_guard guard(lanes_lock_);
  if (const std::uint32_t own = shared_.lane_of[thread].load(); own != 0 && lanes_[own].thread == thread) {
    // Inside a scope already, or its lane of last time, if that is still free.
    // If it is held, then by this thread: another that got it would have its own number there.
    return AcquiredLane{Lane{own}, lanes_[own].holder.take() == LaneHolder::Answer::abandoned};
  }
  for (std::uint32_t lane = 1; lane < kLanes; ++lane) {
    const LaneHolder::Answer answer = lanes_[lane].holder.take();
    if (answer == LaneHolder::Answer::held) continue;
    // The last thread has left the lane. Another thread may have its id by now.
    const std::int32_t before = std::exchange(lanes_[lane].thread, thread);
    if (before != 0 && shared_.lane_of[before].load() == lane) shared_.lane_of[before].store(0);
    shared_.lane_of[thread].store(static_cast<std::uint8_t>(lane));
    return AcquiredLane{Lane{lane}, answer == LaneHolder::Answer::abandoned};
  }
  return std::nullopt;
}

// ---- segments -------------------------------------------------------------------------------------------------------

Generation SeccompBackend::boundary(Lane lane, Next next) {
  if (is_fork_child()) return 0;
  LaneState& own = state(lane);
  own.ended_bank = own.bank;
  const auto index = static_cast<std::uint32_t>(lane);
  std::atomic<std::uint64_t>& control = shared_.lanes[index].control;
  switch (next) {
    case Next::kArm:
      own.bank ^= 1;
      shared_.opening_in[index][own.bank].number.store(opening_, std::memory_order_relaxed);
      shared_.opening_in[index][own.bank].thread.store(opened_by_, std::memory_order_relaxed);
      clear(shared_.banks[index][own.bank], &shared_.makers[index][own.bank]);
      for (std::uint32_t i = 0; lane == Lane::kProcess && i < programs_used(); ++i) {
        clear(shared_.programs[i].banks[own.bank], nullptr);
      }
      ++generation_;
      control.store(make_control(generation_, own.bank), std::memory_order_seq_cst);
      return generation_;
    case Next::kDisarm:
      control.store(0, std::memory_order_seq_cst);
      return 0;
    case Next::kFollowProcess:
      control.store(kFollowProcess, std::memory_order_seq_cst);
      std::lock_guard guard(lanes_lock_);
      own.holder.give_back();
      return 0;
  }
  return 0;
}

bool SeccompBackend::tell_threads_apart() {
  if (is_fork_child()) return false;
  opened_by_ = calling_thread(shared_);
  opening_ = shared_.openings.fetch_add(1) + 1;
  return opened_by_ != 0 && filter_ == nullptr && shared_.knows_threads.load();
}

void SeccompBackend::read(Lane lane, CallTable& into) {
  if (is_fork_child()) return;
  if (!wait_for_supervisor(shared_)) ++late_;
  const auto index = static_cast<std::uint32_t>(lane);
  const std::uint32_t bank = state(lane).ended_bank;
  take(shared_.banks[index][bank], &shared_.makers[index][bank], filter_, into);
}

void SeccompBackend::read_programs(ProgramTables& into) {
  if (is_fork_child()) return;
  for (std::uint32_t i = 0; i < programs_used(); ++i) {
    Bank& bank = shared_.programs[i].banks[state(Lane::kProcess).ended_bank];
    if (is_touched(bank)) take(bank, nullptr, filter_, into.at(shared_.programs[i].name.data()));
  }
}

Result<std::uint64_t> SeccompBackend::hidden_losses() {
  if (is_fork_child()) return std::uint64_t{0};
  const std::uint64_t tracer_filters = shared_.tracer_filters.load();
  if (std::exchange(tracer_filters_, tracer_filters) != tracer_filters) {
    return Failure{
        "a seccomp filter of the program asks a tracer (SECCOMP_RET_TRACE), or may do so, because its memory cannot be "
        "read. No tracer was asked: the kernel takes the answer of the filter that counts, so what the tracer would "
        "have denied was done",
        "measure this program with ebpf or dispatch"};
  }
  const std::uint64_t takeovers = shared_.takeovers.load();
  if (takeovers == takeovers_) return std::uint64_t{0};
  takeovers_ = takeovers;
  return Failure{"the process that counts (syscost-count) was killed; another took over",
                 "do not kill processes that the test did not start"};
}

// ---- proof and calibration ------------------------------------------------------------------------------------------

/// Fewer than elsewhere: each costs microseconds.
constexpr int kTimedCalls = 50;

Result<void> SeccompBackend::prove_and_calibrate(double unobserved_ns) {
  const SyscallId known{kNativeAbi, SYS_getppid};
  // The probe has proved that the kernel notifies. If the filter leaves getppid out, no more can be tested.
  if (filter_ != nullptr && !filter_->selects(known)) return {};
  const std::optional<AcquiredLane> acquired = acquire_lane();
  if (!acquired.has_value()) {
    return Failure{"a seccomp filter answers gettid instead of the kernel", "allow gettid in the filter"};
  }
  const Lane lane = acquired->lane;
  boundary(lane, Next::kArm);
  make_known_calls();
  boundary(lane, Next::kDisarm);
  CallTable counted(&quiet_memory());
  read(lane, counted);
  const std::uint64_t entries = counted.at(known).entries;
  boundary(lane, Next::kArm);
  const double armed_ns = getppid_ns(kTimedCalls);
  boundary(lane, Next::kFollowProcess);
  CallTable thrown_away(&quiet_memory());
  read(lane, thrown_away);
  if (entries != kKnownCalls) {
    return Failure{
        "the supervisor counted " + std::to_string(entries) + " of " + std::to_string(kKnownCalls) + " known calls",
        "report this with the output of --syscost_doctor and uname -a"};
  }
  calibration_ = added_by_counting(armed_ns, unobserved_ns);
  return {};
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(const BackendRequest& request) {
  const double unobserved_ns = getppid_ns(kTimedCalls);
  Result<Shared*> shared = install(request.filter, request.find<OtherProgramsWish>() != nullptr,
                                   request.find<UnselectedCallsWish>() != nullptr);
  if (!shared.ok()) return shared.failure();
  auto backend = std::make_unique<SeccompBackend>(*shared.value(), request.filter);
  if (Result<void> proof = backend->prove_and_calibrate(unobserved_ns); !proof.ok()) return proof.failure();
  return std::unique_ptr<Backend>(std::move(backend));
}

Result<void> probe_backend() {
  Result<void> available = check_user_notification();
  if (available.ok()) available = check_tracer_filters();
  return available.ok() ? probe() : available;
}

}  // namespace syscost::seccomp
