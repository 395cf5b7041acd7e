// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/filters.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint32_t kSetSeccomp = 22;  // PR_SET_SECCOMP

/// struct sock_fprog
struct Program {
  std::uint16_t count;
  std::uint64_t instructions;
};
static_assert(sizeof(Program) == sizeof(sock_fprog) && offsetof(Program, instructions) == offsetof(sock_fprog, filter));

/// What the filter answers to a call. `data`: what the kernel shows it. SECCOMP_RET_ALLOW for a program that the kernel
/// refuses: net/core/filter.c (bpf_check_classic) and kernel/seccomp.c (seccomp_check_filter) say which those are.
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
  if (is_strict) return false;
  Program program{};
  if (!read_user(call.given.rdx, program) || program.count == 0 || program.count > BPF_MAXINSNS) return true;
  const bool allows_masks = needs_masks ? allows(program, SYS_rt_sigprocmask) : !kills(program, SYS_rt_sigprocmask);
  return allows_masks && allows(program, SYS_rt_sigreturn);
}

}  // namespace syscost::signal_safe
