// SPDX-License-Identifier: MIT
#include "backends/ebpf/ebpf_backend.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include "backends/common/counts.h"
#include "backends/common/lane_holder.h"
#include "backends/common/self_test.h"
#include "backends/ebpf/ability.h"
#include "backends/ebpf/holder.h"
#include "backends/ebpf/process_attachment.h"
#include "backends/ebpf/segments.h"
#include "core/extensions.h"
#include "os/confinement.h"
#include "os/memory.h"
#include "os/spin_lock.h"

namespace syscost::ebpf {
namespace {

// Which lane the calling thread holds, and by which registration. A backend opened later uses other cookies and tokens.
struct ThreadRegistration {
  std::uint64_t cookie = 0;
  std::uint64_t token = 0;
};
thread_local ThreadRegistration t_registration __attribute__((tls_model("initial-exec")));

class EbpfBackend final : public Backend {
 public:
  explicit EbpfBackend(ProcessAttachment programs)
      : programs_(std::move(programs)), segments_(programs_.memory()), memory_(programs_.memory()) {
    for (syscost_lane& lane : memory_.lanes().subspan(1)) store(lane.control, SYSCOST_FOLLOW_PROCESS);
    for (const AbilityMaker make : ability_makers()) {
      if (std::unique_ptr<Ability> ability = make(programs_)) abilities_.push_back(std::move(ability));
    }
  }

  std::string_view name() const override { return "ebpf"; }
  Capabilities capabilities() const override {
    return {.entries = true,
            .calls = true,
            .errors = true,
            .latency = true,
            .carried_in = true,
            .denied = true,
            .bytes = BytesKnown::all,
            .threads = true,
            .programs = find_among(abilities_, ProgramReader::kExtension) != nullptr,
            .lanes = SYSCOST_LANES - 1};
  }
  Calibration calibration() const override { return calibration_; }
  std::string arrangement() const override {
    const std::string& why = programs_.why_alone();
    if (!why.empty()) return "runs BPF programs of its own: " + why;
    std::string shared = "shares its BPF programs with other measured processes";
    if (missing_for_bpf(read_confinement().effective).empty()) return shared;
    std::string flags = "; --syscost_detail";
    const auto groups = program_groups();
    for (const ProgramGroup* group : groups)
      flags.append(group == groups.back() ? " and " : ", ").append(group->flag());
    return shared + flags + " need CAP_BPF and CAP_PERFMON in the test itself";
  }

  std::string remark() const override {
    for (const auto& ability : abilities_) {
      if (std::string remark = ability->remark(); !remark.empty()) return remark;
    }
    return {};
  }

  std::optional<AcquiredLane> acquire_lane() override;
  Generation boundary(Lane lane, Next next) override;
  bool tell_threads_apart() override;
  std::uint64_t* process_control() override {
    static_assert(sizeof(__u64) == sizeof(std::uint64_t));
    return is_fork_child() ? nullptr : reinterpret_cast<std::uint64_t*>(&memory_.lanes()[0].control);
  }
  void read(Lane lane, CallTable& into) override;
  void read_crossings(CrossingSink& sink) override;
  Losses losses() const override {
    if (is_fork_child()) return {};
    Losses losses{late_, segments_.lost()};
    for (const auto& ability : abilities_) losses.lost += ability->lost();
    return losses;
  }
  Result<std::uint64_t> hidden_losses() override;
  Result<void> detach() override {
    if (!is_fork_child()) programs_.detach();
    return {};
  }
  Result<void> attach() override {
    if (is_fork_child()) return {};
    // The programs did not see the calls of threads meanwhile, so what they know of threads is out of date.
    ++memory_.directory().attach_epoch;
    return programs_.attach(own_token());
  }
  void retire() override { programs_.retire(); }

  /// Counts only the calls that `filter` selects from now on; the others are neither counted nor lost. After the
  /// proofs, because the filter may leave their calls out.
  void select(const Filter& filter);

  /// The proof that it counts, and what counting adds to a call, given what the same call takes unobserved.
  Result<void> prove_and_calibrate(double unobserved_ns);
  Result<void> prove_abilities();

 private:
  void go_by(std::uint64_t token);

  struct LaneState {
    std::uint32_t bank = 0;        // of the current or, when disarmed, the last segment
    std::uint32_t ended_bank = 0;  // of the segment that the last boundary ended
    LaneHolder holder;             // the thread inside a scope
  };

  static void store(__u64& word, std::uint64_t value) {
    // Sequentially consistent: the programs' announcements are read only after this is visible.
    std::atomic_ref(word).store(value, std::memory_order_seq_cst);
  }
  void* find_extension(std::string_view name) override { return find_among(abilities_, name); }
  // It has no shared memory: each function asks first.
  bool is_fork_child() const { return programs_.is_fork_child(); }
  LaneState& state(Lane lane) { return lanes_[static_cast<std::uint32_t>(lane)]; }
  /// The token by which the programs know the calling thread; 0: they do not know it.
  std::uint64_t own_token() const { return t_registration.cookie == memory_.cookie ? t_registration.token : 0; }

  ProcessAttachment programs_;
  Segments segments_;
  SharedMemory memory_;
  Abilities abilities_;
  const Filter* filter_ = nullptr;  // null = everything is counted
  std::array<LaneState, SYSCOST_LANES> lanes_;
  std::uint64_t opener_ = 0;     // of the windows: the token of a thread
  std::uint64_t opened_ns_ = 0;  // by the kernel's CLOCK_MONOTONIC
  std::uint64_t ahead_ns_ = 0;   // by which that is ahead of our time namespace's
  SpinLock lanes_lock_;          // of the holders and of the lanes' owners
  std::uint64_t tokens_ = 0;
  Generation generation_ = 0;
  std::uint64_t late_ = 0;
  Calibration calibration_;
};

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// ---- what is counted ------------------------------------------------------------------------------------------------

static_assert(kMaxRequestRules == SYSCOST_RULES && kMaxDriverThreads == SYSCOST_THREAD_NAMES);
static_assert(RequestRule::kNowhere == SYSCOST_NOWHERE);
static_assert(Filter::kNumbers == SYSCOST_NUMBERS && kAbiCount == SYSCOST_ABIS);

void EbpfBackend::select(const Filter& filter) {
  filter_ = &filter;
  for (const auto& ability : abilities_) ability->select(filter);
  syscost_directory& directory = memory_.directory();
  for (std::uint32_t index = 0; index < SYSCOST_ABIS * SYSCOST_NUMBERS; ++index) {
    const SyscallId id{static_cast<Abi>(index / SYSCOST_NUMBERS), index % SYSCOST_NUMBERS};
    // Nothing is armed: the programs look into the table only to count.
    if (!filter.selects(id)) std::atomic_ref(directory.slot_of[index]).store(SYSCOST_NOT_SELECTED);
  }
  std::atomic_ref(directory.ignores_unlisted).store(filter.may_select_beyond() ? 0 : 1);
}

// ---- lanes ----------------------------------------------------------------------------------------------------------

std::optional<AcquiredLane> EbpfBackend::acquire_lane() {
  if (is_fork_child()) return std::nullopt;
  AcquiredLane acquired;
  std::uint64_t token = 0;
  {
    std::lock_guard guard(lanes_lock_);
    std::uint32_t lane = 0;
    if (t_registration.cookie == memory_.cookie) lane = static_cast<std::uint32_t>(t_registration.token & 0xff);
    if (lane != 0 && memory_.lanes()[lane].owner == t_registration.token) {
      // Held already: the thread is inside a scope.
      lanes_[lane].holder.take();
      return AcquiredLane{Lane{lane}};
    }
    // A lane without a thread in it. If its last owner comes back, it sees that the owner changed and registers anew.
    LaneHolder::Answer answer = LaneHolder::Answer::held;
    for (lane = 1; lane < SYSCOST_LANES; ++lane) {
      answer = lanes_[lane].holder.take();
      if (answer != LaneHolder::Answer::held) break;
    }
    if (lane == SYSCOST_LANES) return std::nullopt;
    acquired = {Lane{lane}, answer == LaneHolder::Answer::abandoned};
    token = ++tokens_ << 8 | lane;
    store(memory_.lanes()[lane].owner, token);
  }
  if (!programs_.register_thread(token)) {
    // The programs do not know the thread: a scope of its own would stay at 0.
    std::lock_guard guard(lanes_lock_);
    state(acquired.lane).holder.give_back();
    return std::nullopt;
  }
  go_by(token);
  return acquired;
}

/// The programs know the calling thread by its latest token.
void EbpfBackend::go_by(std::uint64_t token) {
  if (const std::uint64_t before = own_token(); before != 0 && opener_ == before) {
    opener_ = token;
    for (syscost_lane& lane : memory_.lanes()) {
      for (__u64& opener : lane.opener) {
        if (opener == before) store(opener, token);
      }
    }
  }
  t_registration = {memory_.cookie, token};
}

bool EbpfBackend::tell_threads_apart() {
  opener_ = 0;
  if (is_fork_child()) return false;
  if (own_token() == 0) {
    std::uint64_t token = 0;
    {
      std::lock_guard guard(lanes_lock_);
      token = ++tokens_ << 8;
    }
    if (!programs_.register_thread(token)) return false;
    go_by(token);
  }
  opener_ = own_token();
  opened_ns_ = monotonic_ns() + ahead_ns_;
  return true;
}

// ---- segments -------------------------------------------------------------------------------------------------------

Generation EbpfBackend::boundary(Lane lane, Next next) {
  if (is_fork_child()) return 0;
  LaneState& own = state(lane);
  own.ended_bank = own.bank;
  if (lane == Lane::kProcess) {
    for (const auto& ability : abilities_) ability->end_segment(own.ended_bank);
  }
  syscost_lane& its = memory_.lanes()[static_cast<std::uint32_t>(lane)];
  __u64& control = its.control;
  switch (next) {
    case Next::kArm:
      own.bank ^= 1;
      its.opener[own.bank] = opener_;
      its.opened_ns[own.bank] = opened_ns_;
      segments_.clear_leftovers(lane, own.bank);
      if (lane == Lane::kProcess) {
        for (const auto& ability : abilities_) ability->begin_segment(own.bank);
      }
      ++generation_;
      store(control, SYSCOST_CONTROL(generation_, own.bank));
      return generation_;
    case Next::kDisarm:
      store(control, 0);
      return 0;
    case Next::kFollowProcess:
      store(control, SYSCOST_FOLLOW_PROCESS);
      std::lock_guard guard(lanes_lock_);
      own.holder.give_back();
      return 0;
  }
  return 0;
}

void EbpfBackend::read(Lane lane, CallTable& into) {
  if (is_fork_child()) return;
  late_ += segments_.wait_for_programs();
  if (lane == Lane::kProcess) {
    for (const auto& ability : abilities_) late_ += ability->wait_for_programs();
  }
  segments_.take(lane, state(lane).ended_bank, into);
  drop_unselected(filter_, into);
}

void EbpfBackend::read_crossings(CrossingSink& sink) {
  if (is_fork_child()) return;
  SelectedCrossings wanted(sink, filter_);
  segments_.take_crossings(wanted, abilities_);
}

// ---- losses ---------------------------------------------------------------------------------------------------------

Result<std::uint64_t> EbpfBackend::hidden_losses() {
  if (is_fork_child()) return std::uint64_t{0};
  return programs_.check(own_token());
}

// ---- proof and calibration ------------------------------------------------------------------------------------------

Result<void> EbpfBackend::prove_and_calibrate(double unobserved_ns) {
  const std::uint64_t before_ns = monotonic_ns();
  const std::optional<AcquiredLane> acquired = acquire_lane();
  if (!acquired.has_value()) return shut_out();  // there are lanes: no other thread has one yet
  // In another time namespace than the kernel's first our clock may be behind or ahead.
  if (const std::uint64_t its_ns = load(memory_.directory().registered_ns);
      its_ns < before_ns || its_ns > monotonic_ns()) {
    ahead_ns_ = its_ns - before_ns;
  }
  const Lane lane = acquired->lane;
  boundary(lane, Next::kArm);
  make_known_calls();
  boundary(lane, Next::kDisarm);
  CallTable counted(&quiet_memory());
  read(lane, counted);
  const Tally& getppids = counted.at({Abi::x86_64, SYS_getppid});
  if (getppids.entries != kKnownCalls || getppids.calls != kKnownCalls) {
    return Failure{"the eBPF programs counted " + std::to_string(getppids.calls) + " of " +
                       std::to_string(kKnownCalls) + " known calls",
                   "report this with the output of --syscost_doctor and uname -a"};
  }

  boundary(lane, Next::kArm);
  double armed_ns = getppid_ns();
  boundary(lane, Next::kFollowProcess);
  CallTable thrown_away(&quiet_memory());
  read(lane, thrown_away);
  calibration_ = added_by_counting(armed_ns, unobserved_ns);
  return {};
}

Result<void> EbpfBackend::prove_abilities() {
  for (const auto& ability : abilities_) {
    if (Result<void> proof = ability->prove(*this); !proof.ok()) return proof;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(const BackendRequest& request) {
  double unobserved_ns = getppid_ns();
  ProgramRequest wanted{.details = request.details};
  std::transform(program_groups().begin(), program_groups().end(), wanted.wanted.begin(),
                 [&](const ProgramGroup* group) { return std::min(group->wanted(request), group->most()); });
  Result<ProcessAttachment> programs = ProcessAttachment::open(wanted);
  if (!programs.ok()) return programs.failure();
  auto backend = std::make_unique<EbpfBackend>(std::move(programs.value()));
  if (Result<void> proof = backend->prove_and_calibrate(unobserved_ns); !proof.ok()) return proof.failure();
  if (Result<void> proof = backend->prove_abilities(); !proof.ok()) return proof.failure();
  if (request.filter != nullptr) backend->select(*request.filter);
  return std::unique_ptr<Backend>(std::move(backend));
}

std::shared_ptr<void> hold_helper() {
  Joined joined;
  HelperLink::Obstacle obstacle{};
  Result<std::unique_ptr<HelperLink>> link = HelperLink::join(joined, obstacle);
  joined.maps.close_all();
  if (!link.ok()) return nullptr;
  // Attached programs cost every process of the machine a little; nothing is counted yet.
  link.value()->detach();
  return std::shared_ptr<HelperLink>(std::move(link.value()));
}

}  // namespace syscost::ebpf
