// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/special.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "backends/dispatch/stub/file_kinds.h"
#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/special_calls.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/commands/stub/command.h"
#include "extras/faults/stub/rules.h"
#include "extras/trace/stub/trace.h"
#include "extras/where/stub/call_stacks.h"

namespace syscost::signal_safe {

const Client* file_client = nullptr;

void set_marks(unsigned char client, const NumberSet& numbers) {
  std::atomic_ref words(syscost_any_armed);
  // First this: a number that is marked already must be looked at.
  words.fetch_or(kCallsMarked);
  bool is_any_marked = false;
  for (std::uint32_t number = 0; number < kMarkedNumbers; ++number) {
    std::atomic_ref mark(syscost_is_special[number]);
    if (numbers.has(number)) {
      mark.fetch_or(client);
    } else {
      mark.fetch_and(static_cast<unsigned char>(~client));
    }
    if ((mark.load() & kMarkedByAny) != 0) is_any_marked = true;
  }
  if (!is_any_marked) words.fetch_and(static_cast<char>(~kCallsMarked));
}

bool needs_care(std::uint32_t number) {
  return number < kMarkedNumbers && (std::atomic_ref(syscost_is_special[number]).load() & kNeedsCare) != 0;
}

Plan ask_clients(const Guard& guard, Call& call, unsigned char marks, const ChosenRule& chosen) {
  const bool is_plain = (marks & kNeedsCare) == 0;
  // Other calls need the place for themselves.
  if (is_plain) call.adapted = {};
  // First: a call that a fault answers has files, too.
  if (is_plain && (marks & kMarkedByFileKinds) != 0) ask_file_kinds(call);
  if (chosen.rule != nullptr && ask_faults(guard, call, is_plain, chosen)) return Plan::answered;
  if (!is_plain) return Plan::call;
  // After the faults: a call that is not made changes no file.
  if ((marks & kMarkedByFiles) != 0) std::atomic_ref(file_client).load(std::memory_order_acquire)->ask(guard, call);
  const Adapted& adapted = call.adapted;
  // The common way forgets that a call was changed.
  if (adapted.clients != 0 || adapted.delay_exit_ns != 0 || call.is_altered != 0) return Plan::call;
  // If a signal interrupts a trapped call just before it is made, that call begins again (cancel.cc), and clients would
  // be asked twice. A call with a plan does not begin again.
  return is_on_trap_stack(call) ? Plan::call : Plan::common;
}

void tell_clients(const Guard& guard, Call& call) {
  if ((call.adapted.clients & kMarkedByFaults) != 0) tell_faults(guard, call);
  if ((call.adapted.clients & kMarkedByFiles) != 0)
    std::atomic_ref(file_client).load(std::memory_order_acquire)->tell(guard, call);
}

// The calls that would notice, or undo, that we watch: those about signals (special_calls.h), clones, thread ends, and
// other users of what we use. Each is made with arguments adapted, and what comes back is what the program would have
// got without us.

namespace {

constexpr std::uint64_t kSetGs = 0x1001;
constexpr std::uint32_t kSetTsc = 26;
constexpr std::uint64_t kTscKills = 2;  // PR_TSC_SIGSEGV

// ---- children -------------------------------------------------------------------------------------------------------

/// A thread; a process that shares our memory and runs beside us; a process that shares it while its maker waits for
/// its end; a process with its own memory.
enum class Child : std::uint64_t { thread = 1, beside = 2, waited_for = 3, process = 4 };

Child child_of(std::uint64_t flags) {
  if ((flags & CLONE_THREAD) != 0) return Child::thread;
  if ((flags & CLONE_VM) == 0) return Child::process;
  return (flags & CLONE_VFORK) != 0 ? Child::waited_for : Child::beside;
}

/// The kind of a child, and which of State::openings it begins in: it may run only after the next.
constexpr std::uint64_t kOpeningShift = 8;
constexpr std::uint64_t kSharesActions = 1U << 4;
std::uint64_t birth_of(std::uint64_t flags) {
  return static_cast<std::uint64_t>(child_of(flags)) | ((flags & CLONE_SIGHAND) != 0 ? kSharesActions : 0) |
         std::uint64_t{std::atomic_ref(syscost_state.openings).load()} << kOpeningShift;
}

/// Puts what the child's first steps need below its stack pointer, where it reads them before anything else runs.
Plan leave_for_child(Call& call, std::uint64_t stack, std::uint64_t flags) {
  const struct {
    std::uint64_t given_stack, birth, flags, return_address;
  } left{call.given.rsi, birth_of(flags), call.flags, call.return_address};
  static_assert(sizeof left == 32);
  return write_user(stack - sizeof left, left) ? Plan::own_stack : Plan::call;
}

Plan save_for_shared(Call& call) {
  Thread& thread = *call.thread;
  Saved& saved = thread.saved[thread.saved_depth % kSaved];
  saved = {call.return_address, call.flags,   static_cast<std::uint32_t>(call.number),
           call.is_altered,     call.control, syscost_denies_ticks == 0 ? read_ticks() : 0};
  ++thread.saved_depth;
  return Plan::shared_stack;
}

/// False for the records of threads that are not counted.
bool is_record(const Thread& thread) {
  return &thread != &syscost_foreign_thread && &thread != &syscost_child_thread;
}

/// A child that begins on its maker's stack, in memory that both have. On a trap stack the call waits for its maker.
Plan plan_shared(Call& call) {
  if (!is_on_trap_stack(call)) return save_for_shared(call);
  if (command_counts != nullptr && is_record(*call.thread)) lend_record(call);
  call.note = static_cast<std::uint64_t>(Child::waited_for);
  return Plan::call;
}

Plan plan_clone(Call& call, std::uint64_t flags, std::uint64_t stack) {
  // A process that shares our memory is never armed if this thread waits for its end; any other that shares it may
  // be.
  const bool is_waited_for = (flags & CLONE_VFORK) != 0 && (flags & CLONE_THREAD) == 0;
  if ((flags & CLONE_VM) != 0 && !is_waited_for) std::atomic_ref(syscost_is_alone).store(0);
  if (stack != 0) {
    if (command_counts != nullptr && is_record(*call.thread) && child_of(flags) == Child::waited_for) lend_record(call);
    return leave_for_child(call, stack, flags);
  }
  // Without a stack and with memory of its own the child finds all this in its copy.
  return (flags & CLONE_VM) != 0 ? plan_shared(call) : Plan::call;
}

Plan plan_clone3(Call& call) {
  struct Head {
    std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size;
  };
  Head head{};
  if (call.given.rsi < sizeof head || !read_user(call.given.rdi, head)) return Plan::call;
  return plan_clone(call, head.flags, head.stack == 0 ? 0 : head.stack + head.stack_size);
}

/// In a child that is a process of its own: its signals, and its signal stack, are what the program believes.
/// `shares_actions`: with its maker (CLONE_SIGHAND).
void leave_process(const Guard& guard, Child kind, bool shares_actions = false) {
  if (gs_base() == &syscost_child_thread) return;
  const bool is_command = command_counts != nullptr;
  // Under a filter, a child that will soon be another program makes no call of ours.
  const bool may_ask = kind == Child::process || (is_command && syscost_state.filters == 0);
  if (may_ask && has_cleared_handlers(guard, kind == Child::process) && is_command) take_sigsys_again(guard);
  if (is_command && count_in_child(guard, kind == Child::process, kind == Child::waited_for)) return;
  Thread* parent = calling_thread(guard);
  if (kind == Child::process) {
    // Without has_signals the program's action of SIGSYS is the kernel's already, and what we believe may be old.
    if (syscost_state.has_signals) {
      give_signals_back(guard, true);
    } else {
      give_handlers_back(guard);
    }
  }
  // A child that its maker waits for will soon be another program. That inherits whether SIGSYS is ignored.
  const bool may_ignore = kind == Child::waited_for && !shares_actions && syscost_state.has_signals;
  if (may_ignore && syscost_state.filters == 0 && is_sigsys_ignored()) set_sigsys_ignored();
  // The kernel has forgotten the stack of a child that shares memory and runs beside its maker.
  if (parent != nullptr && kind != Child::beside) give_stack_back(guard, *parent);
  // Since we stood aside, what the kernel blocks counts.
  const bool has_mask = syscost_state.stood_aside == StoodAside::no;
  if (has_mask && parent != nullptr && parent->blocks_sigsys != 0) set_blocked_in_kernel(true);
  set_gs_base(&syscost_child_thread);
}

/// `stack_top`: above the stack that it begins on.
void begin_child(const Guard& guard, std::uint64_t birth, std::uint64_t stack_top) {
  const auto kind = static_cast<Child>(birth & (kSharesActions - 1));
  if (kind != Child::thread) {
    leave_process(guard, kind, (birth & kSharesActions) != 0);
    return;
  }
  Thread* parent = calling_thread(guard);
  Thread* own = nullptr;
  // A child of a thread that is not watched is not watched.
  const bool is_filtered = command_counts != nullptr && syscost_state.filters != 0;
  if (parent != nullptr) {
    own = is_filtered ? nullptr : take_thread(guard, static_cast<std::uint32_t>(birth >> kOpeningShift));
    if (own == nullptr) {
      std::atomic_ref(syscost_state.unseen_threads).fetch_add(1);
      note_blind(is_filtered ? Blind::filtered : Blind::thread);
    }
  }
  if (own == nullptr) {
    set_gs_base(&syscost_foreign_thread);
    return;
  }
  own->blocks_sigsys = parent->blocks_sigsys;
  own->stack_top = stack_top;
  if (arm_calling_thread(guard, *own) < 0) {
    set_gs_base(&syscost_foreign_thread);
    give_thread_back(guard, *own);
    std::atomic_ref(syscost_state.unseen_threads).fetch_add(1);
    note_blind(Blind::thread);
    return;
  }
  announce_waiting(*own);
}

void return_from_shared(const Guard& guard, Call& call, std::uint64_t now) {
  Thread& thread = *call.thread;
  const Saved& saved = thread.saved[(thread.saved_depth - 1) % kSaved];
  call.return_address = saved.return_address;
  call.flags = saved.flags;
  if (call.result == 0) {
    leave_process(guard, Child::waited_for, saved.number != SYS_vfork);
    return;
  }
  call.number = saved.number;
  call.control = saved.control;
  call.start = saved.start;
  call.abi = 0;
  call.is_altered = saved.is_altered;
  --thread.saved_depth;
  record(guard, call, now);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

/// The thread that a call belongs to, as far as signals go. Actions are the process's, masks the thread's.
bool is_in_our_process() {
  return syscost_state.stood_aside == StoodAside::no && !is_in_child();
}
bool is_watched(const Call& call) {
  return syscost_state.stood_aside == StoodAside::no && call.thread != &syscost_foreign_thread;
}
/// The kernel has our mask and stack. In a child it has the program's own, which the next program inherits.
bool has_our_mask(const Call& call) {
  return is_watched(call) && call.thread != &syscost_child_thread;
}

/// A return from a handler that was not trapped.
void prepare_return(const Guard& guard, Call& call) {
  if (!is_watched(call)) return;
  record_return(guard, call, call.stack_pointer);
  prepare_sigreturn(guard, *reinterpret_cast<SignalFrame*>(call.stack_pointer - 8), *call.thread);
}

bool sends_signal(std::uint64_t number) {
  return number == SYS_tkill || number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo;
}

bool is_clone(const Call& call) {
  return call.number == SYS_clone || call.number == SYS_clone3 || call.number == SYS_fork || call.number == SYS_vfork;
}

// Notes of Call::before.flags, which are 0 for other calls.
constexpr std::uint64_t kHandsMaskOn = 1;
constexpr std::uint64_t kExpectsFilter = 1;

/// Before the filter: it may kill us for calls that the program does not make. A question about filters is none.
void expect_filter(const Guard& guard, Call& call) {
  if (!installs_filter(call)) return;
  if (is_in_child()) {
    // Strict mode takes the time-stamp counter away, which the stub reads after the call. Our process keeps its own.
    if (!is_lent(gs_base())) std::atomic_ref(syscost_denies_ticks).store(1);
    return;
  }
  const bool is_fatal = !allows_traps(call, command_counts != nullptr);
  call.before.flags = kExpectsFilter;
  std::atomic_ref(syscost_state.filters).fetch_add(1);
  stop_calls_of_ours();
  if (is_fatal) stand_aside(guard, StoodAside::own_filter);
}

Plan prepare(const Guard& guard, Call& call) {
  // All that the kernel looks at.
  const auto option = static_cast<std::uint32_t>(call.given.rdi);
  if (has_our_mask(call)) prepare_signals(guard, call);
  if (is_in_our_process() && sends_signal(call.number)) prepare_send(call);
  switch (call.number) {
    case SYS_rt_sigreturn:
      prepare_return(guard, call);
      return Plan::sigreturn;
    case SYS_brk:
      // The break before a call that is counted (bytes.h). The kernel does not say by how much it moved.
      if (call.control != 0) call.note = static_cast<std::uint64_t>(syscost_raw_syscall(SYS_brk));
      break;
    case SYS_clone:
      return plan_clone(call, call.given.rdi, call.given.rsi);
    case SYS_clone3:
      return plan_clone3(call);
    case SYS_vfork:
      return plan_shared(call);
    case SYS_rt_sigaction:
      // In timed passes, and after it took SIGSYS for itself, the kernel may have the program's own.
      if (!is_in_child() && syscost_state.has_signals) prepare_sigaction(call);
      // A child that runs with its maker's record needs SIGSYS as its maker does: it is only asked for.
      if (is_lent(gs_base()) && call.given.rdi == kSigsys) call.used.rsi = 0;
      break;
    case SYS_execve:
    case SYS_execveat:
      if (command_counts != nullptr) prepare_execution(call);
      // The next program inherits the mask.
      if (has_our_mask(call) && call.thread->blocks_sigsys != 0) {
        set_blocked_in_kernel(true);
        call.before.flags = kHandsMaskOn;
      }
      break;
    case SYS_seccomp:
      expect_filter(guard, call);
      break;
    case SYS_prctl:
      expect_filter(guard, call);
      if (option == kSetDispatch) stand_aside(guard, StoodAside::own_dispatch);
      if (option == kSetTsc && call.given.rsi == kTscKills) stand_aside(guard, StoodAside::no_clock);
      break;
    case SYS_arch_prctl:
      if (call.given.rdi == kSetGs) stand_aside(guard, StoodAside::own_gs);
      break;
    case SYS_mlockall:
      if (is_in_our_process()) give_unused_memory_back(guard);
      break;
    case SYS_exit:
      // Under a filter that denies our calls the record stays, and no one else gets it.
      if (syscost_state.stood_aside == StoodAside::own_filter) break;
      if (call.thread != &syscost_foreign_thread && !is_lent(call.thread)) {
        Thread& thread = *call.thread;
        // From here on no record counts a handler that interrupts us, and it runs on no stack that another may take.
        if (thread.blocks_sigsys != 0) set_blocked_in_kernel(true);
        give_stack_back(guard, thread);
        set_gs_base(&syscost_foreign_thread);
        call.thread = &syscost_foreign_thread;
        give_thread_back(guard, thread);
        // It may have been sent a notice.
        offer_sigsys();
      }
      break;
    default:
      break;
  }
  return Plan::call;
}

void take_arguments(Call& call) {
  call.control = call.thread->lane->control;
  call.used = call.given;
  call.note = 0;
  call.before.flags = 0;  // nothing is lent, handed on, or installed
}

__attribute__((noinline)) Plan prepare_or_ask(const Guard& guard, Call& call, unsigned char marks,
                                              const ChosenRule& chosen) {
  take_arguments(call);
  const bool is_plain = (marks & kNeedsCare) == 0;
  // Without a mark by now: the client went meanwhile.
  if (is_plain || marks != kNeedsCare) {
    const Plan plan = ask_clients(guard, call, marks, chosen);
    if (is_plain || plan == Plan::answered) return plan;
  }
  return prepare(guard, call);
}

/// The most common case, a call that faults look at and no rule hits, takes no more than it must.
__attribute__((always_inline)) inline Plan choose_and_prepare(const Guard& guard, Call& call) {
  const auto number = static_cast<std::uint32_t>(call.number);
  const unsigned char marks = std::atomic_ref(syscost_is_special[number]).load(std::memory_order_relaxed);
  ChosenRule chosen{};
  if ((marks & kMarkedByFaults) != 0) chosen = choose_rule(guard, call);
  const bool is_common = marks == kMarkedByFaults && chosen.rule == nullptr && !is_on_trap_stack(call);
  if (is_common) [[likely]]
    return Plan::common;
  return prepare_or_ask(guard, call, marks, chosen);
}

/// Counted before the rest is done: a SIGSYS that the call has sent or unblocked comes in the middle of that, and its
/// handler may leave by longjmp. Three calls have their result only after it.
bool has_result(const Call& call) {
  return call.number != SYS_sigaltstack && call.number != SYS_rt_sigtimedwait && call.number != SYS_rt_sigaction;
}

/// Counts a call of prepare_or_ask().
void record_prepared(const Guard& guard, const Call& call, std::uint64_t now) {
  const bool is_plain = !needs_care(static_cast<std::uint32_t>(call.number));
  if (is_plain && call.adapted.kinds != 0) return record_with_kinds(guard, call, now, call.adapted.kinds);
  record(guard, call, now);
}

/// mlockall() refuses if the program's memory and ours are more than the limit. The program's alone may not be.
void lock_again(Call& call) {
  const bool is_refused = call.result == ~std::uint64_t{ENOMEM} + 1 && is_in_our_process();
  if (!is_refused || syscost_state.filters != 0 || syscost_state.lock_all_but_ours == nullptr) return;
  call.result = static_cast<std::uint64_t>(syscost_state.lock_all_but_ours(call.given.rdi, syscost_raw_syscall));
}

/// A filter that the kernel refused with an error is none, so children are counted as before. A result above 0 may be
/// the descriptor of a listener, of a filter that is installed.
void forget_refused_filter(const Call& call) {
  const bool is_refused = static_cast<std::int64_t>(call.result) < 0;
  if (is_refused && call.before.flags == kExpectsFilter) std::atomic_ref(syscost_state.filters).fetch_sub(1);
}

/// True for a child that leaves the call to its maker.
bool finish(const Guard& guard, Call& call, std::uint64_t now) {
  if (is_clone(call) && call.result == 0) {
    const bool is_shared = call.note == static_cast<std::uint64_t>(Child::waited_for);
    leave_process(guard, is_shared ? Child::waited_for : Child::process, is_shared && call.number != SYS_vfork);
    return is_shared;
  }
  if (is_clone(call)) take_record_back(call);
  if (!needs_care(static_cast<std::uint32_t>(call.number))) tell_clients(guard, call);
  if (call.number == SYS_execve || call.number == SYS_execveat) {
    if (call.before.flags == kHandsMaskOn) set_blocked_in_kernel(false);
    if (command_counts != nullptr) finish_execution(call);
  }
  if (call.number == SYS_mlockall) lock_again(call);
  if (call.number == SYS_seccomp || call.number == SYS_prctl) forget_refused_filter(call);
  if (has_result(call)) record_prepared(guard, call, now);
  if (has_our_mask(call)) finish_signals(guard, call);
  if (call.number == SYS_rt_sigaction && !is_in_child()) finish_sigaction(call);
  // As the program has it: not ours.
  const bool is_asked_for_sigsys = call.number == SYS_rt_sigaction && call.given.rdi == kSigsys && is_lent(gs_base());
  if (is_asked_for_sigsys && call.result == 0 && call.given.rdx != 0 &&
      !write_user(call.given.rdx, signal_beliefs.actions[kSigsys])) {
    call.result = ~std::uint64_t{EFAULT} + 1;
  }
  if (sends_signal(call.number)) finish_send(call);
  if (!has_result(call)) record(guard, call, now);
  return false;
}

}  // namespace

bool finish_in_handler(const Guard& guard, Call& call, std::uint64_t now) {
  const bool is_child = is_clone(call) && call.result == 0;
  if (is_child || (is_watched(call) && !leave_mask_to_frame(call))) return false;
  finish(guard, call, now);
  return true;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's names
extern "C" {

using syscost::signal_safe::Call;
using syscost::signal_safe::EntryPoint;
using syscost::signal_safe::Guard;

std::uint64_t syscost_prepare(Call* call) {
  const Guard guard = EntryPoint::enter();
  call->frame_pointer = *static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  return static_cast<std::uint64_t>(syscost::signal_safe::choose_and_prepare(guard, *call));
}

bool syscost_finish(Call* call, std::uint64_t now) {
  const Guard guard = EntryPoint::enter();
  const bool is_left_to_maker = syscost::signal_safe::finish(guard, *call, now);
  if (!syscost::signal_safe::needs_care(static_cast<std::uint32_t>(call->number)) && call->adapted.delay_exit_ns != 0) {
    syscost::signal_safe::wait_for(call->adapted.delay_exit_ns);
  }
  return is_left_to_maker;
}

/// For a call that a client answered.
void syscost_finish_answered(Call* call, std::uint64_t now) {
  const Guard guard = EntryPoint::enter();
  syscost::signal_safe::record_prepared(guard, *call, now);
}

/// The first steps of a child on a stack of its own.
void syscost_child(Call* call, std::uint64_t birth) {
  const Guard guard = EntryPoint::enter();
  syscost::signal_safe::begin_child(guard, birth, call->stack_pointer);
}

/// After a clone that shared the stack: the child's first steps, or the parent's next.
void syscost_return_from_shared(Call* call, std::uint64_t now) {
  const Guard guard = EntryPoint::enter();
  call->frame_pointer = *static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  syscost::signal_safe::return_from_shared(guard, *call, now);
}
}
// NOLINTEND(readability-identifier-naming)
