// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Enrolment: how a process makes itself known to the programs.
//
// Whoever loaded them (the process itself, or the helper that serves many) prepares a map and a cookie; the process
// calls gettid(cookie, 0), and the programs, which run in its context, write down its id as the kernel sees it. So
// nobody needs to know anybody's id: in a PID namespace getpid() lies, and a helper may not see its client at all. The
// cookie is a secret between the two: nobody else can say it, and a process can enrol nobody but itself.
#pragma once

#include "state.bpf.h"

static __always_inline bool is_cookie_of(const struct process* process, __u64 cookie) {
  __u32 index = SYSCOST_COOKIE_PROCESS(cookie);
  const struct syscost_enrolment* enrolment = &AT(enrolments, index);
  return cookie && enrolment->cookie == cookie && enrolment->serial == process->serial;
}

// Called when the current process is nobody's yet. False when it does not enrol, or no place is left in its bucket.
static __noinline bool enrol_in(__u32 tgid, __u32 index) {
  __u64* bucket = AT(targets, tgid);
  __u64 target = SYSCOST_TARGET(tgid, index);
  for (__u32 way = 0; way < SYSCOST_TARGET_WAYS; ++way) {
    if (READ_ONCE(bucket[way]) == 0 && __sync_val_compare_and_swap(&bucket[way], 0, target) == 0) return true;
  }
  return false;
}

static __always_inline bool enrol(const struct task_struct* task, const struct pt_regs* regs, struct process* process) {
  __u64 cookie = regs->di;
  if (!cookie) return false;
  __u32 index = SYSCOST_COOKIE_PROCESS(cookie);
  if (AT(enrolments, index).cookie != cookie || !find_process(index, process)) return false;
  return enrol_in((__u32)task->tgid, index);
}
