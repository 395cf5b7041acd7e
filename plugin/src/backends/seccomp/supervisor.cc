// SPDX-License-Identifier: MIT
#include "backends/seccomp/supervisor.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "backends/seccomp/filters.h"
#include "extras/faults/seccomp/fault_judge.h"
#include "os/detached_process.h"

namespace syscost::seccomp {

Ledger* map_ledger() {
  void* memory =
      mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Ledger*>(memory);
}

void unmap_ledger(Ledger* ledger) {
  munmap(ledger, sizeof(Ledger));
}

namespace {

/// Returns the index of a syscall's cell; kIndexes for numbers beyond the tables.
std::size_t index_of(SyscallId id) {
  if (id.number >= Filter::kNumbers) return kIndexes;
  return static_cast<std::size_t>(id.abi) * Filter::kNumbers + id.number;
}

SyscallId id_at(std::size_t index) {
  return {static_cast<Abi>(index / Filter::kNumbers), static_cast<std::uint32_t>(index % Filter::kNumbers)};
}

/// One writer, so a load and a store do.
void increment(std::atomic<std::uint64_t>& cell) {
  cell.store(cell.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// True for a tool of ours and each process that it started, also before it leads a session. The thread is stopped in
/// its call, so the answer stays true.
bool is_ours(const Shared& shared, std::int32_t thread) {
  return std::any_of(std::begin(shared.own_sessions), std::end(shared.own_sessions), [&](const auto& cell) {
    const pid_t session = cell.load(std::memory_order_relaxed);
    return session != 0 && (thread == session || getsid(thread) == session);
  });
}

/// Set once a second, in a serving process.
volatile std::sig_atomic_t g_second_passed = 0;
void note_second(int) {
  g_second_passed = 1;
}

/// The process must disturb other processes as little as possible: no signal of a terminal or a group reaches it, and
/// it holds no file, no folder, and no pipe that another process reads to its end.
void withdraw(int listener) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  syscall(SYS_setsid);
  // The table of files is the measured process's until now. unshare(2) would part them too, but Docker's seccomp
  // profile denies it, and then these would be that process's files. That close_range works is known from
  // check_user_notification().
  if (listener > 0) syscall(SYS_close_range, 0U, static_cast<unsigned>(listener) - 1, CLOSE_RANGE_UNSHARE);
  syscall(SYS_close_range, static_cast<unsigned>(listener) + 1, UINT_MAX, CLOSE_RANGE_UNSHARE);
  if (chdir("/") != 0) return;  // a folder held is no more than a nuisance
}

/// Wakes a receive() that waits for a notification that will never come: before Linux 6.11 the end of the last task
/// under the filter does not wake it.
void wake_up_every_second() {
  struct sigaction action {};
  action.sa_handler = note_second;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval second{{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &second, nullptr);
}

/// Completes the work of a killed server: answers the call that waits, and ends the count that was begun.
void repair(Shared& shared, Ledger& ledger, int listener) {
  if (ledger.mailbox.id() != 0) let_continue(listener, ledger.mailbox.id());
  ledger.mailbox.clear();
  if ((shared.sequence.load() & 1) != 0) shared.sequence.fetch_add(1);
  shared.takeovers.fetch_add(1);
}

}  // namespace

SyscallId syscall_id_of(std::uint32_t arch, std::uint32_t number) {
  if (arch == AUDIT_ARCH_I386) return {Abi::i386, number};
  // A call that no table has a place for keeps its number, as on the other backends.
  const SyscallId id = syscall_id_x86_64(number);
  return id == kUnknownSyscall ? SyscallId{Abi::x86_64, number} : id;
}

bool is_of_process(pid_t process, std::int32_t thread) {
  return syscall(SYS_tgkill, process, thread, 0) == 0 || errno == EPERM;
}

// ---- counting -------------------------------------------------------------------------------------------------------

Counter::Counter(Shared& shared, pid_t measured) : shared_(shared), measured_(measured) {
  void* memory = mmap(nullptr, kThreadIds * sizeof *last_call_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  last_call_ = memory == MAP_FAILED ? nullptr : static_cast<std::uint16_t*>(memory);
  memory = mmap(nullptr, kThreadIds * sizeof *first_seen_, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  first_seen_ = memory == MAP_FAILED ? nullptr : static_cast<std::uint32_t*>(memory);
}

Counter::~Counter() {
  if (last_call_ != nullptr) munmap(last_call_, kThreadIds * sizeof *last_call_);
  if (first_seen_ != nullptr) munmap(first_seen_, kThreadIds * sizeof *first_seen_);
}

// ---- which thread made a call ---------------------------------------------------------------------------------------

// No thread can begin meanwhile, because its clone would wait for an answer.
void Counter::note_threads_before(std::uint32_t opening) {
  births_ = 0;
  if (first_seen_ == nullptr || !names_.is_proc_ours()) return;
  std::array<char, 40> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/task", measured_);
  const int folder = open(path.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  // Not readdir(), which allocates: the process was cloned from one that may have held malloc's lock.
  alignas(dirent64) std::array<char, 4096> entries{};
  long bytes = 0;
  bool has_any = false;
  while ((bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      const long thread = std::strtol(entry->d_name, nullptr, 10);
      if (thread > 0 && static_cast<std::size_t>(thread) < kThreadIds) {
        if (first_seen_[thread] == 0) first_seen_[thread] = std::max(opening, 1U);
        has_any = true;
      }
      at += entry->d_reclen;
    }
  }
  close(folder);
  shared_.knows_threads.store(has_any && bytes == 0);
}

void Counter::note_first_call(std::int32_t thread, SyscallId id) {
  if (first_seen_ == nullptr) return;
  constexpr SyscallId kExit{kNativeAbi, SYS_exit};
  constexpr SyscallId kClone{kNativeAbi, SYS_clone};
  constexpr SyscallId kClone3{kNativeAbi, SYS_clone3};
  const std::uint32_t opening = shared_.openings.load(std::memory_order_relaxed);
  // A thread that began before the window may make its first call in it. The window's first call is before any clone.
  if (opening != noted_opening_ && births_ > 0) note_threads_before(opening);
  noted_opening_ = opening;
  if (first_seen_[thread] == 0) first_seen_[thread] = opening + 1;
  if (id == kClone || id == kClone3) ++births_;
  if (id == kExit) first_seen_[thread] = 0;  // another thread may get its id
}

Maker Counter::maker_of(std::int32_t thread, std::uint32_t lane, std::uint32_t bank) const {
  const Shared::Opening& opening = shared_.opening_in[lane][bank];
  if (thread == opening.thread.load(std::memory_order_relaxed) || first_seen_ == nullptr) return Maker::opener;
  const bool began_inside = first_seen_[thread] > opening.number.load(std::memory_order_relaxed);
  return began_inside ? Maker::started : Maker::older;
}

// ---- counting -------------------------------------------------------------------------------------------------------

SyscallId Counter::resolve_restart(std::int32_t thread, SyscallId id) {
  if (last_call_ == nullptr) return id;
  std::uint16_t& last = last_call_[thread];
  if (is_restart_syscall(id)) {
    const bool goes_on = last != 0 && is_resumable(id_at(last - 1U));
    return goes_on ? id_at(last - 1U) : id;  // else the program itself made the call
  }
  const std::size_t index = index_of(id);
  last = index < kIndexes ? static_cast<std::uint16_t>(index + 1) : 0;
  return id;
}

void Counter::add(Bank& bank, Makers* makers, SyscallId id, Maker maker, bool is_altered) {
  const std::size_t index = index_of(id);
  if (index < kIndexes) {
    increment(bank.entries[index]);
    if (is_altered) {
      increment(bank.altered[index]);
      bank.has_altered.store(true, std::memory_order_relaxed);
    }
    if (maker != Maker::opener) {
      increment((maker == Maker::started ? makers->started : makers->older)[index]);
      makers->has_others.store(true, std::memory_order_relaxed);
    }
    std::atomic<std::uint64_t>& word = bank.touched[index / 64];
    word.store(word.load(std::memory_order_relaxed) | std::uint64_t{1} << index % 64, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t key = std::uint64_t{static_cast<std::uint8_t>(id.abi)} << 32 | id.number;
  const std::uint64_t used =
      std::min<std::uint64_t>(bank.unlisted_used.load(std::memory_order_relaxed), kUnlistedNumbers);
  std::uint64_t place = 0;
  while (place < used && bank.unlisted[place].id.load(std::memory_order_relaxed) != key) ++place;
  if (place == kUnlistedNumbers) {
    increment(shared_.lost);
    return;
  }
  if (place == used) {
    bank.unlisted[place].id.store(key, std::memory_order_relaxed);
    bank.unlisted_used.store(used + 1, std::memory_order_relaxed);
  }
  Bank::Unlisted& its = bank.unlisted[place];
  increment(its.entries);
  if (maker != Maker::opener) increment(maker == Maker::started ? its.started : its.older);
}

void Counter::count_for(std::int32_t thread, SyscallId id, bool is_altered) {
  // Announced before the control word is read: see shared.h.
  shared_.sequence.fetch_add(1, std::memory_order_seq_cst);
  std::uint32_t lane = shared_.lane_of[thread].load(std::memory_order_acquire);
  if (lane >= kLanes) lane = 0;
  std::uint64_t control = shared_.lanes[lane].control.load(std::memory_order_seq_cst);
  if (lane != 0 && control == kFollowProcess) {
    lane = 0;
    control = shared_.lanes[lane].control.load(std::memory_order_seq_cst);
  }
  if (control != 0) {
    const std::uint32_t bank = bank_of(control);
    add(shared_.banks[lane][bank], &shared_.makers[lane][bank], id, maker_of(thread, lane, bank), is_altered);
  }
  shared_.sequence.fetch_add(1, std::memory_order_release);
}

void Counter::count(const Notification& notification, bool is_altered) {
  // The kernel asks the filter, too, before it emulates a function of this page; that is no syscall.
  constexpr std::uint64_t kVsyscallPage = 0xffff'ffff'ff60'0000;
  constexpr std::uint64_t kPageBytes = 4096;
  if (notification.instruction - kVsyscallPage < kPageBytes) return;
  const std::int32_t thread = notification.thread;
  if (thread <= 0 || static_cast<std::size_t>(thread) >= kThreadIds) return;
  const SyscallId id = resolve_restart(thread, syscall_id_of(notification.arch, notification.number));
  note_first_call(thread, id);
  const std::size_t index = index_of(id);
  if (index < kIndexes && (shared_.is_left_out[index / 64].load(std::memory_order_relaxed) >> index % 64 & 1) != 0) {
    return;
  }
  // Nothing is armed, so it does not matter which process the thread belongs to.
  if (shared_.lane_of[thread].load(std::memory_order_relaxed) == 0 && shared_.lanes[0].control.load() == 0) return;
  if (is_of_process(measured_, thread)) {
    count_for(thread, id, is_altered);
  } else if (shared_.counts_children.load(std::memory_order_relaxed)) {
    count_child(thread, id);
  }
}

/// Returns the account of the program that the thread's process runs; null if none is left.
Shared::Program* Counter::account_of(std::int32_t thread) {
  const ProgramName name = names_.of(thread);
  const std::uint32_t used = std::min<std::uint32_t>(shared_.programs_used.load(std::memory_order_relaxed), kPrograms);
  for (std::uint32_t i = 0; i < used; ++i) {
    if (shared_.programs[i].name == name) return &shared_.programs[i];
  }
  if (used == kPrograms) return nullptr;
  shared_.programs[used].name = name;
  shared_.programs_used.store(used + 1, std::memory_order_release);
  return &shared_.programs[used];
}

void Counter::count_child(std::int32_t thread, SyscallId id) {
  if (shared_.lanes[0].control.load() == 0) return;
  if (is_ours(shared_, thread)) return;
  Shared::Program* account = account_of(thread);
  shared_.sequence.fetch_add(1, std::memory_order_seq_cst);
  const std::uint64_t control = shared_.lanes[0].control.load(std::memory_order_seq_cst);
  if (control != 0 && account == nullptr) increment(shared_.lost);
  if (control != 0 && account != nullptr) add(account->banks[bank_of(control)], nullptr, id, Maker::opener);
  shared_.sequence.fetch_add(1, std::memory_order_release);
}

// ---- the processes --------------------------------------------------------------------------------------------------

Served serve(Shared& shared, Ledger& ledger, const SupervisorFiles& files, pid_t guard) {
  const int listener = files.listener;
  Counter counter(shared, ledger.measured);
  counter.note_threads_before(0);
  FaultJudge judge(shared, ledger, files.measured);
  Delays delays(ledger, listener);
  Notification notification;
  for (;;) {
    if (g_second_passed != 0) {
      g_second_passed = 0;
      if (getppid() != guard) return Served::kGuardIsGone;
    }
    if (!delays.wait_for_call()) continue;
    if (!receive(listener, ledger.mailbox, notification)) {
      if (has_hung_up(listener)) return Served::kNoProcessIsLeft;
      continue;
    }
    if (may_install_tracer_filter(notification)) shared.tracer_filters.fetch_add(1);
    const Verdict verdict = judge.ask(notification);
    counter.count(notification, verdict.is_answered || verdict.delay_ns > 0);
    if (verdict.delay_ns > 0) {
      delays.add(notification.id, verdict);
    } else {
      settle(listener, notification.id, verdict);
    }
    ledger.mailbox.clear();
  }
}

namespace {

/// Two processes hold the listener now, so the measured process may give up its own. False if that has ended.
bool wait_until_it_may_answer(Shared& shared, int listener) {
  if (shared.phase.load() == kListening) set_phase(shared, kTaken);
  while (shared.phase.load() == kTaken) {
    if (has_hung_up(listener)) return false;
    wait_for_phase(shared, kTaken, 1000);
  }
  return true;
}

}  // namespace

pid_t start_below(Shared& shared, pid_t creator) {
  // Before a process that answers has the listener, neither is of use without its creator.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != creator) _exit(1);
  const pid_t self = getpid();
  const pid_t guard = clone_quietly();
  if (guard == 0) return self;
  while (guard > 0 && waitpid(guard, nullptr, WNOHANG | static_cast<int>(__WALL)) == 0) {
    const std::uint32_t phase = shared.phase.load();
    if (phase == kTaken || phase == kServing) _exit(0);
    wait_for_phase(shared, phase, 100);
  }
  _exit(1);
}

void run_supervisor(Shared& shared, Ledger& ledger, pid_t creator) {
  prctl(PR_SET_NAME, "syscost-guard");
  // Until it holds the listener, it is useless without its creator.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != creator) _exit(1);
  set_phase(shared, kWaiting);
  while (shared.phase.load() == kWaiting) wait_for_phase(shared, kWaiting, 1000);
  if (shared.phase.load() != kListening) _exit(1);
  const int listener = shared.listener.load();
  withdraw(listener);
  const SupervisorFiles files{listener, static_cast<int>(syscall(SYS_pidfd_open, ledger.measured, 0))};
  ask_for_synchronous_wakeup(listener);
  prctl(PR_SET_PDEATHSIG, 0);
  for (;;) {
    const pid_t guard = getpid();
    const auto server = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (server <= 0) {
      wake_up_every_second();
      if (server == 0) prctl(PR_SET_NAME, "syscost-count");
      if (!wait_until_it_may_answer(shared, listener)) _exit(0);
      // Without a server below it the guard serves alone.
      if (serve(shared, ledger, files, server == 0 ? guard : getppid()) == Served::kNoProcessIsLeft) _exit(0);
      // The guard was killed: this process takes its place.
      prctl(PR_SET_NAME, "syscost-guard");
      continue;
    }
    int status = 0;
    while (waitpid(server, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) _exit(0);
    // It was killed. The processes under the filter wait for us.
    repair(shared, ledger, listener);
  }
}

}  // namespace syscost::seccomp
