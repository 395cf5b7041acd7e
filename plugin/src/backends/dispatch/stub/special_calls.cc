// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/special_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/user_memory.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

namespace syscost::signal_safe {
namespace {

/// The kernel's timespec.
struct Time {
  std::int64_t seconds;
  std::int64_t ns;
};

constexpr std::uint64_t kMaskBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kBlockedInKernel = 4;  // in a note
constexpr std::uint64_t kBadAddress = ~std::uint64_t{EFAULT} + 1;
/// An address that the kernel cannot read. One that could not be read a moment ago might be readable now.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

// ---- masks ----------------------------------------------------------------------------------------------------------

/// Reads the mask at `address`. False for one that the kernel refuses.
bool read_mask(std::uint64_t address, std::uint64_t size, std::uint64_t& mask) {
  return size == kMaskBytes && read_user(address, mask);
}

/// The call has stored a mask at `address`, in which the program shall see SIGSYS.
void add_sigsys(Call& call, std::uint64_t address) {
  std::uint64_t mask = 0;
  if (!read_user(address, mask) || !write_user(address, mask | kSigsysBit)) call.result = kBadAddress;
}

/// The call waits under the mask at `address`. As with the program's own mask, SIGSYS gets through in the call and not
/// before.
void wait_with(Call& call, std::uint64_t address, std::uint64_t size) {
  std::uint64_t mask = 0;
  if (!read_mask(address, size, mask)) return;
  Thread& thread = *call.thread;
  const bool is_blocked = (mask & kSigsysBit) != 0;
  thread.blocks_outside = thread.blocks_sigsys + 1;
  call.note = thread.blocks_outside;
  if (thread.blocks_sigsys != 0 && !is_blocked) {
    set_blocked_in_kernel(true);
    call.note |= kBlockedInKernel;
  }
  believe_blocked(thread, is_blocked);
}

/// The same for the {mask, size} pair that pselect6 and io_pgetevents take.
void wait_with_pair(Call& call, std::uint64_t address) {
  struct Pair {
    std::uint64_t mask, size;
  };
  Pair pair{};
  if (read_user(address, pair)) wait_with(call, pair.mask, pair.size);
}

void finish_wait(Call& call) {
  if (call.note == 0) return;
  Thread& thread = *call.thread;
  thread.blocks_outside = 0;
  believe_blocked(thread, (call.note & ~kBlockedInKernel) == 2);
  if ((call.note & kBlockedInKernel) != 0) set_blocked_in_kernel(false);
}

void prepare_sigprocmask(Call& call) {
  call.note = call.thread->blocks_sigsys;
  if (call.given.rsi == 0 || call.given.r10 != kMaskBytes) return;
  std::uint64_t mask = 0;
  if (!read_user(call.given.rsi, mask)) {
    call.used.rsi = kNowhere;
    return;
  }
  const bool names_it = (mask & kSigsysBit) != 0;
  const auto how = static_cast<int>(call.given.rdi);
  if (how == SIG_SETMASK) call.note |= names_it ? 2 : 4;
  if (how == SIG_BLOCK && names_it) call.note |= 2;
  if (how == SIG_UNBLOCK && names_it) call.note |= 4;
  call.mask = mask & ~kSigsysBit;
  call.used.rsi = reinterpret_cast<std::uint64_t>(&call.mask);
}

void finish_sigprocmask(Call& call) {
  // Where the old mask cannot be written the kernel has set the new one all the same.
  if (call.result != 0 && static_cast<std::int64_t>(call.result) != -EFAULT) return;
  if (call.result == 0 && call.given.rdx != 0 && (call.note & 1) != 0) add_sigsys(call, call.given.rdx);
  if ((call.note & 6) != 0) believe_blocked(*call.thread, (call.note & 2) != 0);
}

// ---- SIGSYS that waits ----------------------------------------------------------------------------------------------

void finish_sigpending(Call& call) {
  const Thread& thread = *call.thread;
  if (call.result != 0 || call.given.rsi != kMaskBytes || thread.blocks_sigsys == 0 || !has_waiting(thread)) return;
  add_sigsys(call, call.given.rdi);
}

/// While the call waits for SIGSYS the kernel blocks it: it is for the call and not for a handler.
void prepare_sigtimedwait(const Guard& guard, Call& call) {
  std::uint64_t mask = 0;
  if (!read_mask(call.given.rdi, call.given.r10, mask) || (mask & kSigsysBit) == 0) return;
  Thread& thread = *call.thread;
  if (call.given.rsi == 0) {
    if (thread.received == nullptr) {
      thread.received = static_cast<SignalInfo*>(take_memory(guard, sizeof *thread.received));
    }
    if (thread.received == nullptr) return;
    call.used.rsi = reinterpret_cast<std::uint64_t>(thread.received);
  }
  call.note = 1;
  set_blocked_in_kernel(true);
  await_sigsys(thread, true);
}

/// The rest of the time that the program waits; null for ever.
const Time* time_left(const Call& call, Time& into) {
  if (call.given.rdx == 0) return nullptr;
  if (!read_user(call.given.rdx, into)) return &into;
  if (syscost_denies_ticks != 0) return &into;
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const auto passed = static_cast<std::int64_t>(to_ns(read_ticks() - call.start));
  into.seconds -= passed / kNsPerSecond;
  into.ns -= passed % kNsPerSecond;
  if (into.ns < 0) {
    into.ns += kNsPerSecond;
    --into.seconds;
  }
  if (into.seconds < 0) into = {};
  return &into;
}

void finish_sigtimedwait(Call& call) {
  if (call.note == 0) return;
  Thread& thread = *call.thread;
  SignalInfo received;
  while (call.result == kSigsys && read_user(call.used.rsi, received) && is_notice(received, thread)) {
    SignalInfo info;
    if (take_sigsys(thread, info)) {
      if (call.given.rsi != 0 && !write_user(call.given.rsi, info)) call.result = kBadAddress;
      break;
    }
    // Another thread was first.
    Time left{};
    call.result = static_cast<std::uint64_t>(
        syscost_raw_syscall(SYS_rt_sigtimedwait, static_cast<long>(call.given.rdi), static_cast<long>(call.used.rsi),
                            reinterpret_cast<long>(time_left(call, left)), kMaskBytes));
  }
  await_sigsys(thread, false);
  set_blocked_in_kernel(false);
}

/// A file from which SIGSYS is read needs it pending in the kernel, where we cannot let it be.
void prepare_signalfd(const Guard& guard, Call& call) {
  std::uint64_t mask = 0;
  if (read_mask(call.given.rsi, call.given.rdx, mask) && (mask & kSigsysBit) != 0)
    stand_aside(guard, StoodAside::own_sigsys_file);
}

}  // namespace

// ---- actions --------------------------------------------------------------------------------------------------------

namespace {

enum ActionNote : std::uint64_t { kAsIs, kOfSigsys, kHandler, kNoHandler, kQuery };

}  // namespace

void prepare_sigaction(Call& call) {
  const auto signal = static_cast<int>(call.given.rdi);
  call.note = kAsIs;
  if (call.given.r10 != kMaskBytes || signal < 1 || signal >= kSignals) return;
  KernelSigaction& believed = signal_beliefs.actions[signal];
  call.before = believed;
  call.note = kQuery;
  // The kernel reads the new action before it writes the old one, which it stores here for finish_sigaction().
  if (call.given.rdx != 0) call.used.rdx = reinterpret_cast<std::uint64_t>(&call.action);
  if (call.given.rsi == 0) {
    if (signal == kSigsys) call.note = kOfSigsys;
    return;
  }
  if (!read_user(call.given.rsi, call.action)) {
    call.used.rsi = kNowhere;
    return;
  }
  call.used.rsi = reinterpret_cast<std::uint64_t>(&call.action);
  if (signal == kSigsys) {
    // Ours stays; the kernel is asked all the same, for what it has to say about the arguments.
    believed = call.action;
    call.action = own_action(believed);
    call.note = kOfSigsys;
    return;
  }
  call.note = kNoHandler;
  // A thread that is not watched may read the kernel's action and set it here: that action is the believed one.
  if (!is_handler(call.action) || is_ours(call.action)) return;
  // Believed before the kernel has it: the signal may come in between.
  believed = call.action;
  call.action = entering_action(believed);
  call.note = kHandler;
}

void finish_sigaction(Call& call) {
  if (call.note == kAsIs) return;
  const auto signal = static_cast<int>(call.given.rdi);
  KernelSigaction& believed = signal_beliefs.actions[signal];
  const bool is_set = call.result == 0;
  if (is_set && call.given.rdx != 0) {
    KernelSigaction shown = call.action;
    if (call.note == kOfSigsys) {
      shown = call.before;
    } else if (is_ours(shown)) {
      shown = shown_action(shown, call.before);
    }
    // Where the old action cannot be written, the kernel has set the new one all the same.
    if (!write_user(call.given.rdx, shown)) call.result = kBadAddress;
  }
  if (call.note == kOfSigsys && !is_set) believed = call.before;
  if (call.note != kHandler) return;
  if (is_set) {
    std::atomic_ref(signal_beliefs.entered_by_us).fetch_or(1ULL << (signal - 1));
  } else {
    believed = call.before;
  }
}

namespace {

/// The calls that wait under a mask of their own; prepare_signals knows where each has it.
bool waits_with_mask(const Call& call) {
  switch (call.number) {
    case SYS_rt_sigsuspend:
    case SYS_ppoll:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_pselect6:
    case SYS_io_pgetevents:
      return true;
    default:
      return false;
  }
}

}  // namespace

void prepare_signals(const Guard& guard, Call& call) {
  switch (call.number) {
    case SYS_rt_sigprocmask:
      return prepare_sigprocmask(call);
    case SYS_rt_sigsuspend:
      return wait_with(call, call.given.rdi, call.given.rsi);
    case SYS_ppoll:
      return wait_with(call, call.given.r10, call.given.r8);
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      return wait_with(call, call.given.r8, call.given.r9);
    case SYS_pselect6:
    case SYS_io_pgetevents:
      return wait_with_pair(call, call.given.r9);
    case SYS_sigaltstack:
      return prepare_sigaltstack(call);
    case SYS_rt_sigtimedwait:
      return prepare_sigtimedwait(guard, call);
    case SYS_signalfd:
    case SYS_signalfd4:
      return prepare_signalfd(guard, call);
    default:
      return;
  }
}

bool leave_mask_to_frame(Call& call) {
  if (waits_with_mask(call)) call.note &= ~kBlockedInKernel;
  return call.number != SYS_rt_sigtimedwait || call.note == 0;
}

void finish_signals(const Guard& /*guard*/, Call& call) {
  if (waits_with_mask(call)) return finish_wait(call);
  switch (call.number) {
    case SYS_rt_sigprocmask:
      return finish_sigprocmask(call);
    case SYS_sigaltstack:
      return finish_sigaltstack(call);
    case SYS_rt_sigpending:
      return finish_sigpending(call);
    case SYS_rt_sigtimedwait:
      return finish_sigtimedwait(call);
    default:
      return;
  }
}

namespace {

constexpr std::uint32_t kSetSeccomp = 22;  // PR_SET_SECCOMP

/// struct sock_fprog
struct Program {
  std::uint16_t count;
  std::uint64_t instructions;
};
static_assert(sizeof(Program) == sizeof(sock_fprog) && offsetof(Program, instructions) == offsetof(sock_fprog, filter));

/// The filter's answer to a call. `data`: as the kernel shows it the call. SECCOMP_RET_ALLOW for a program that the
/// kernel refuses: net/core/filter.c (bpf_check_classic) and kernel/seccomp.c (seccomp_check_filter) say which those
/// are.
std::uint32_t answer_of(const Program& program, const seccomp_data& data) {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::uint32_t words_kept[BPF_MEMWORDS] = {};
  UserBytes memory;
  const auto* const words = reinterpret_cast<const char*>(&data);
  // Jumps lead forward only.
  for (std::uint32_t at = 0; at < program.count; ++at) {
    sock_filter one{};
    if (!memory.read(program.instructions + at * sizeof one, one)) return SECCOMP_RET_ALLOW;
    const std::uint32_t operand = BPF_SRC(one.code) == BPF_X ? x : one.k;
    switch (BPF_CLASS(one.code)) {
      case BPF_LD:
        if (BPF_MODE(one.code) == BPF_ABS) {
          if (one.k > sizeof data - sizeof a || one.k % sizeof a != 0) return SECCOMP_RET_ALLOW;
          a = read_at<std::uint32_t>(reinterpret_cast<std::uint64_t>(words + one.k));
        } else {
          a = BPF_MODE(one.code) == BPF_IMM   ? one.k
              : BPF_MODE(one.code) == BPF_MEM ? words_kept[one.k % BPF_MEMWORDS]
                                              : sizeof data;
        }
        break;
      case BPF_LDX:
        x = BPF_MODE(one.code) == BPF_IMM   ? one.k
            : BPF_MODE(one.code) == BPF_MEM ? words_kept[one.k % BPF_MEMWORDS]
                                            : sizeof data;
        break;
      case BPF_ST:
        words_kept[one.k % BPF_MEMWORDS] = a;
        break;
      case BPF_STX:
        words_kept[one.k % BPF_MEMWORDS] = x;
        break;
      case BPF_ALU:
        switch (BPF_OP(one.code)) {
          case BPF_ADD:
            a += operand;
            break;
          case BPF_SUB:
            a -= operand;
            break;
          case BPF_MUL:
            a *= operand;
            break;
          case BPF_DIV:
            if (operand == 0) return SECCOMP_RET_KILL_PROCESS;
            a /= operand;
            break;
          case BPF_AND:
            a &= operand;
            break;
          case BPF_OR:
            a |= operand;
            break;
          case BPF_XOR:
            a ^= operand;
            break;
          case BPF_LSH:
            a <<= operand & 31;
            break;
          case BPF_RSH:
            a >>= operand & 31;
            break;
          default:
            a = -a;  // BPF_NEG
            break;
        }
        break;
      case BPF_JMP: {
        bool is_true = false;
        switch (BPF_OP(one.code)) {
          case BPF_JA:
            at += one.k;
            continue;
          case BPF_JEQ:
            is_true = a == operand;
            break;
          case BPF_JGT:
            is_true = a > operand;
            break;
          case BPF_JGE:
            is_true = a >= operand;
            break;
          default:
            is_true = (a & operand) != 0;  // BPF_JSET
            break;
        }
        at += is_true ? one.jt : one.jf;
        break;
      }
      case BPF_RET:
        return BPF_RVAL(one.code) == BPF_A ? a : one.k;
      default:  // BPF_MISC
        if (BPF_MISCOP(one.code) == BPF_TAX) {
          x = a;
        } else {
          a = x;
        }
        break;
    }
  }
  return SECCOMP_RET_ALLOW;
}

std::uint32_t action_for(const Program& program, std::uint32_t number) {
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = AUDIT_ARCH_X86_64;
  return answer_of(program, data) & SECCOMP_RET_ACTION_FULL;
}

bool allows(const Program& program, std::uint32_t number) {
  const std::uint32_t action = action_for(program, number);
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

bool kills(const Program& program, std::uint32_t number) {
  const std::uint32_t action = action_for(program, number);
  return action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_KILL_THREAD || action == SECCOMP_RET_TRAP;
}

}  // namespace

bool installs_filter(const Call& call) {
  if (call.number == SYS_seccomp) return call.given.rdi <= SECCOMP_SET_MODE_FILTER;
  return call.number == SYS_prctl && static_cast<std::uint32_t>(call.given.rdi) == kSetSeccomp;
}

bool allows_traps(const Call& call, bool needs_masks) {
  const bool is_strict =
      call.number == SYS_seccomp ? call.given.rdi == SECCOMP_SET_MODE_STRICT : call.given.rsi == SECCOMP_MODE_STRICT;
  // The strict mode takes no flags and no arguments: seccomp(2) refuses them.
  if (is_strict) return call.number == SYS_seccomp && (call.given.rsi != 0 || call.given.rdx != 0);
  Program program{};
  if (!read_user(call.given.rdx, program) || program.count == 0 || program.count > BPF_MAXINSNS) return true;
  const bool allows_masks = needs_masks ? allows(program, SYS_rt_sigprocmask) : !kills(program, SYS_rt_sigprocmask);
  return allows_masks && allows(program, SYS_rt_sigreturn);
}

}  // namespace syscost::signal_safe
