// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Enrolment: how a process makes itself known to the programs.
//
// The process that loaded them (the measured one, or the helper that serves many) prepares a map and a cookie. The
// measured process calls gettid(cookie, 0); the programs run in its context and note its id as the kernel sees it.
// So no process needs to know an id: getpid() is wrong in a PID namespace, and a helper may not see its client at all.
// The cookie is a secret between the two: no other process knows it, and a process can enrol only itself.
//
// A cookie enrols one process, ever: the first that says it. Ids come back when their process is gone, so a process is
// known by its id and by when it started. And it is that process only until it executes another program, which may have
// more rights than the one that asked to be counted: so the kernel's number of what it executed is compared, too.
#pragma once

#include "state.bpf.h"

static __always_inline bool is_cookie_of(const struct process* process, __u64 cookie) {
  __u32 index = SYSCOST_COOKIE_PROCESS(cookie);
  const struct syscost_enrolment* enrolment = &AT(enrolments, index);
  return cookie && enrolment->cookie == cookie && enrolment->serial == process->serial;
}

// One entry for each id. It overwrites the entry of a former process with that id.
static __noinline bool enrol_in(__u32 tgid, __u32 index) {
  __u64* bucket = AT(targets, tgid);
  __u64 target = SYSCOST_TARGET(tgid, index);
  for (__u32 way = 0; way < SYSCOST_TARGET_WAYS; ++way) {
    __u64 seen = READ_ONCE(bucket[way]);
    if (SYSCOST_TARGET_TGID(seen) == tgid && __sync_val_compare_and_swap(&bucket[way], seen, target) == seen) {
      return true;
    }
  }
  for (__u32 way = 0; way < SYSCOST_TARGET_WAYS; ++way) {
    if (READ_ONCE(bucket[way]) == 0 && __sync_val_compare_and_swap(&bucket[way], 0, target) == 0) return true;
  }
  return false;
}

// Called when the current process is not enrolled yet.
static __always_inline bool enrol(const struct task_struct* task, const struct pt_regs* regs, struct process* process) {
  __u64 cookie = regs->di;
  if (!cookie) return false;
  __u32 index = SYSCOST_COOKIE_PROCESS(cookie);
  struct syscost_enrolment* enrolment = &AT(enrolments, index);
  if (enrolment->cookie != cookie || !find_process(index, process)) return false;
  __u64 start = task->group_leader->start_boottime;
  __u64 first = __sync_val_compare_and_swap(&enrolment->start, 0, start);
  if (!first) WRITE_ONCE(enrolment->program, task->self_exec_id);
  if (!is_enrolled(task, index)) {
    WRITE_ONCE(enrolment->refusal, SYSCOST_REFUSED_SECOND);
    return false;
  }
  if (enrol_in((__u32)task->tgid, index)) {
    WRITE_ONCE(enrolment->refusal, SYSCOST_NOT_REFUSED);
    return true;
  }
  WRITE_ONCE(enrolment->refusal, SYSCOST_REFUSED_FULL);
  return false;
}

// Called when a process that has another cookie makes this call.
static __always_inline void refuse_second_cookie(__u64 cookie) {
  __u32 index = SYSCOST_COOKIE_PROCESS(cookie);
  struct syscost_enrolment* enrolment = &AT(enrolments, index);
  if (cookie && enrolment->cookie == cookie) WRITE_ONCE(enrolment->refusal, SYSCOST_REFUSED_ENROLLED);
}
