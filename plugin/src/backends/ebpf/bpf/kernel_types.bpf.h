// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The few kernel types the programs read, with only the fields they read.
//
// A full vmlinux.h is two megabytes, made from one kernel. CO-RE needs no more than names: libbpf looks each field
// up in the running kernel's BTF and patches its offset. Fixed-width names are our own, so that the file stands alone.
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum { false, true };
typedef _Bool bool;

// include/uapi/linux/bpf.h: kernel ABI, these numbers never change.
enum bpf_map_type_subset {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_LRU_HASH = 9,
  BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
  BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum bpf_map_flags_subset {
  BPF_F_NO_PREALLOC = 1,
  BPF_F_MMAPABLE = 1024,
};
enum bpf_update_flags_subset { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum bpf_storage_flags_subset { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
  __u32 status;
};

struct seccomp {
  int mode;
};

struct signal_struct {
  int nr_threads;
};

struct inode {
  unsigned short i_mode;
  unsigned int i_flags;
  unsigned int i_rdev;
};

struct qstr {
  const unsigned char* name;
};

struct dentry {
  struct qstr d_name;
};

struct path {
  struct dentry* dentry;
};

struct file {
  struct inode* f_inode;
  struct path f_path;
};

struct mm_struct {
  unsigned long total_vm;
  unsigned long brk;
  struct file* exe_file;
};

struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};

struct files_struct {
  struct fdtable* fdt;
};

struct upid {
  int nr;
};

struct pid {
  unsigned int level;
  struct upid numbers[];
};

struct rq;

struct cfs_rq {
  struct rq* rq;
};

struct sched_entity {
  struct cfs_rq* cfs_rq;
};

struct task_struct {
  struct thread_info thread_info;
  unsigned int __state;  // Linux 5.14
  unsigned int flags;
  struct sched_entity se;
  struct pid* thread_pid;
  struct seccomp seccomp;
  struct signal_struct* signal;
  struct files_struct* files;
  struct mm_struct* mm;
  int pid;
  int tgid;
  __u64 start_time;
  __u64 start_boottime;  // Linux 5.5
  __u64 self_exec_id;    // 64 bits since Linux 5.7
  unsigned long nvcsw;
  unsigned long nivcsw;
  struct task_struct* group_leader;
  char comm[16];
};

struct pt_regs {
  unsigned long r10;
  unsigned long bx;
  unsigned long r8;
  unsigned long cx;
  unsigned long di;
  unsigned long si;
  unsigned long dx;
  unsigned long orig_ax;
};

typedef void (*sighandler_ptr)(int);

struct sigaction {
  sighandler_ptr sa_handler;
  unsigned long sa_flags;
};

struct k_sigaction {
  struct sigaction sa;
};

struct trace_event_raw_sys_enter {
  long id;
};

struct trace_event_raw_sys_exit {
  long ret;
};

struct trace_event_raw_signal_deliver {
  unsigned long sa_handler;
  unsigned long sa_flags;
};

#pragma clang attribute pop
