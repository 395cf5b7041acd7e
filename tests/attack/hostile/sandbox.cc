// SPDX-License-Identifier: MIT
//
// A test that gives up what it may do: filters, privileges, folders, memory that stays as it is.
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::filter;
using attack::filter_errno;
using attack::run_loop;
using conformance::raw;

/// A call site that no code has used often before, which a backend that patches code will patch.
void call_other_sites() {
  for (int i = 0; i < 20; ++i) getpgrp();
  for (int i = 0; i < 20; ++i) getegid();
}

constexpr unsigned kKill = 0x80000000U;  // SECCOMP_RET_KILL_PROCESS

}  // namespace

#define NEEDS_ROOT \
  if (geteuid() != 0) GTEST_SKIP() << "needs root"

HOSTILE(nothing_odd, 20, "does nothing unusual, and has a loop") {
  call_both(10);
  call_other_sites();
  run_loop();
}

HOSTILE(memory_deny_write_execute, 20, "denies itself writable and executable memory (PR_SET_MDWE)") {
  constexpr int kSet = 65;
  if (prctl(kSet, 1, 0, 0, 0) != 0) GTEST_SKIP() << "needs Linux 6.3";
  call_both(10);
  call_other_sites();
}

HOSTILE(mprotect_answers_eacces, 20, "a filter answers mprotect with EACCES") {
  ASSERT_TRUE(filter_errno({SYS_mprotect, SYS_pkey_mprotect}, EACCES));
  call_both(10);
  call_other_sites();
}

HOSTILE(mprotect_answers_eperm_loop, 20, "a filter answers mprotect with EPERM before a loop") {
  ASSERT_TRUE(filter_errno({SYS_mprotect, SYS_pkey_mprotect}, EPERM));
  call_both(10);
  call_other_sites();
  run_loop();
}

HOSTILE(no_new_memory, 20, "a filter answers mmap, mremap, munmap and mprotect with ENOMEM, and the test makes calls") {
  ASSERT_TRUE(filter_errno({SYS_mmap, SYS_mremap, SYS_munmap, SYS_mprotect, SYS_madvise}, ENOMEM));
  call_both(10);
  call_other_sites();
}

HOSTILE(seals_libc, 20, "seals libc's memory (mseal): its protection stays as it is") {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libc.so") == std::string::npos && line.find("libc-") == std::string::npos) continue;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    if (raw(462, begin, end - begin, 0) != 0) GTEST_SKIP() << "needs Linux 6.10";
  }
  call_both(10);
  call_other_sites();
}

HOSTILE(bpf_answers_eperm, 20, "a filter answers bpf with EPERM before a loop") {
  ASSERT_TRUE(filter_errno({SYS_bpf}, EPERM));
  call_both(10);
  run_loop();
}

HOSTILE(prctl_answers_eperm, 40, "a filter answers prctl with EPERM, and a new thread starts") {
  ASSERT_TRUE(filter_errno({SYS_prctl}, EPERM));
  call_both(10);
  std::thread([] { call_both(10); }).join();
}

HOSTILE(arch_prctl_answers_eperm, 40, "a filter answers arch_prctl with EPERM, and a new thread starts") {
  ASSERT_TRUE(filter_errno({SYS_arch_prctl}, EPERM));
  call_both(10);
  std::thread([] { call_both(10); }).join();
}

HOSTILE(gettid_answers_eperm, 20, "a filter answers gettid with EPERM before a loop") {
  ASSERT_TRUE(filter_errno({SYS_gettid}, EPERM));
  call_both(10);
  run_loop();
}

HOSTILE(own_calls_answer_eperm, 20, "a filter answers getrusage, fstat, flock and pread64 with EPERM") {
  ASSERT_TRUE(filter_errno({SYS_getrusage, SYS_fstat, SYS_newfstatat, SYS_flock, SYS_pread64}, EPERM));
  call_both(10);
}

HOSTILE(writing_answers_enospc, 20, "a filter answers every write except GoogleTest's with ENOSPC") {
  ASSERT_TRUE(filter_errno({SYS_writev, SYS_pwrite64, SYS_sendmsg, SYS_sendto}, ENOSPC));
  call_both(10);
  run_loop();
}

HOSTILE(signal_calls_answer_eperm, 20, "a filter answers rt_sigprocmask, rt_sigaction and sigaltstack with EPERM") {
  ASSERT_TRUE(filter_errno({SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_sigaltstack}, EPERM));
  call_both(10);
}

HOSTILE(waiting_answers_eperm, 20, "a filter answers futex, sched_yield, membarrier and nanosleep with EPERM") {
  ASSERT_TRUE(filter_errno({SYS_futex, SYS_sched_yield, SYS_membarrier, SYS_nanosleep, SYS_clock_nanosleep}, EPERM));
  call_both(10);
}

HOSTILE(loops_under_a_narrow_filter, 20,
        "a filter allows read, write, exit and a few more, and answers the rest with ENOSYS") {
  ASSERT_TRUE(filter_errno({SYS_bpf, SYS_prctl, SYS_mprotect, SYS_mmap, SYS_gettid, SYS_tgkill, SYS_openat, SYS_ioctl,
                            SYS_fcntl, SYS_flock, SYS_fstat, SYS_newfstatat, SYS_pread64, SYS_getrusage, SYS_sendmsg,
                            SYS_recvmsg, SYS_membarrier, SYS_sched_getaffinity},
                           ENOSYS));
  call_both(10);
  run_loop();
}

HOSTILE(killed_for_bpf, 20, "a filter kills the process at bpf, as sandboxes do") {
  ASSERT_TRUE(filter({SYS_bpf}, kKill));
  call_both(10);
}

HOSTILE(killed_for_prctl_and_mprotect, 20, "a filter kills the process at prctl, arch_prctl and mprotect") {
  ASSERT_TRUE(filter({SYS_prctl, SYS_arch_prctl, SYS_mprotect}, kKill));
  call_both(10);
}

HOSTILE(landlocked, 20, "denies itself every folder and file (Landlock) before a loop") {
  landlock_ruleset_attr rules = {};
  rules.handled_access_fs = (1U << 13U) - 1;
  const long ruleset = raw(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0) GTEST_SKIP() << "the kernel has no Landlock";
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ASSERT_EQ(raw(SYS_landlock_restrict_self, ruleset, 0), 0);
  call_both(10);
  run_loop();
}

HOSTILE(changes_root, 20, "changes its root to an empty folder before a loop") {
  NEEDS_ROOT;
  char folder[] = "attack-XXXXXX";  // below the run's own folder
  ASSERT_NE(mkdtemp(folder), nullptr);
  ASSERT_EQ(chroot(folder), 0);
  ASSERT_EQ(chdir("/"), 0);
  call_both(10);
  run_loop();
}

HOSTILE(loses_proc, 20, "unmounts /proc before a loop") {
  NEEDS_ROOT;
  if (unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "needs CAP_SYS_ADMIN";
  mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  ASSERT_EQ(umount2("/proc", MNT_DETACH), 0);
  call_both(10);
  run_loop();
}

HOSTILE(moves_into_namespaces, 20, "moves into user, network, mount and IPC namespaces of its own before a loop") {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) != 0) {
    GTEST_SKIP() << "namespaces are denied";
  }
  call_both(10);
  run_loop();
}

HOSTILE(becomes_nobody, 20, "drops root permanently before a loop") {
  NEEDS_ROOT;
  ASSERT_EQ(setresgid(65534, 65534, 65534), 0);
  ASSERT_EQ(setresuid(65534, 65534, 65534), 0);
  call_both(10);
  run_loop();
}

HOSTILE(drops_capabilities, 20, "drops every capability before a loop") {
  NEEDS_ROOT;
  for (int i = 0; i <= 63; ++i) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
  std::uint32_t header[2] = {0x20080522, 0};
  std::uint32_t none[6] = {};
  ASSERT_EQ(raw(SYS_capset, header, none), 0);
  call_both(10);
  run_loop();
}

HOSTILE(not_dumpable, 20, "makes itself undumpable, which gives its /proc to root, before a loop") {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  call_both(10);
  run_loop();
}

HOSTILE(file_size_0, 20, "limits files to 0 bytes (RLIMIT_FSIZE)") {
  const rlimit none = {0, 0};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  call_both(10);
}

HOSTILE(address_space_full, 20, "limits its address space to the current size (RLIMIT_AS)") {
  const rlimit small = {std::uint64_t{1} << 20U, std::uint64_t{1} << 20U};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  call_both(10);
}

HOSTILE(no_more_processes, 20, "cannot start a process (RLIMIT_NPROC), as an ordinary user, before a loop") {
  NEEDS_ROOT;
  const rlimit none = {0, 0};
  ASSERT_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
  ASSERT_EQ(setresuid(65534, 65534, 65534), 0);
  call_both(10);
  run_loop();
}

HOSTILE(priorities, 20, "runs as idle, moves between CPUs, then back") {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
  call_both(10);
}
