// SPDX-License-Identifier: MIT
//
// Which errors a syscall can have: the list that sweeps of failures go through (`bench faults`, for_each_failure()).
//
// A program cannot be tested against every errno that a manual page names: most of them say that the program itself is
// wrong (EBADF, EFAULT, EINVAL), and a correct program never gets them. This list holds one or two errors for each
// syscall. Each of them can happen to a correct program, because of the machine or of other programs. The reason stands
// beside it. Section 2 of the Linux manual pages names it: on the page of the syscall, or on a page that this one
// refers to (pread to read, openat2 to open). Two are on neither: EIO of msync(), which fails as fsync() does, and
// EAGAIN of vfork(), which fails as fork() does.
//
// Left out on purpose:
//   EINTR    only calls that wait have it, and only if a handler without SA_RESTART ran. Name it where that is so.
//   EAGAIN   of reads and writes: only descriptors with O_NONBLOCK have it.
//   EDQUOT   comes where ENOSPC does, and few programs tell the two apart.
//   brk      returns the old break instead of an error, so no errno stands for its failure; glibc then calls mmap.
//   fcntl    has different errors for each of its commands.
//   futex, nanosleep, poll, madvise, and calls that only ask the process about itself: no failure that a test could
//   see.
#pragma once

#include <cerrno>
#include <string_view>

namespace syscost {

/// The loss of a program that does not look at a failed call.
enum class IfIgnored {
  harmless,  ///< Nothing that was written before.
  loss,      ///< Things that the program wrote or renamed may be lost: success would be wrong.
};

/// One errno that a syscall can have.
struct CallError {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order of a line of the table
  std::string_view syscall;
  int error;
  std::string_view name;  ///< `ENOSPC`
  IfIgnored if_ignored;
  std::string_view reason;  ///< Why it is in the list, in a few words.
};

// clang-format off
inline constexpr CallError kCallErrors[] = {
    // Data and its way to the disk.
    {"write", ENOSPC, "ENOSPC", IfIgnored::loss, "the disk is full"},
    {"write", EIO, "EIO", IfIgnored::loss, "the device failed"},
    {"pwrite64", ENOSPC, "ENOSPC", IfIgnored::loss, "the disk is full"},
    {"pwrite64", EIO, "EIO", IfIgnored::loss, "the device failed"},
    {"writev", ENOSPC, "ENOSPC", IfIgnored::loss, "the disk is full"},
    {"pwritev", ENOSPC, "ENOSPC", IfIgnored::loss, "the disk is full"},
    {"pwritev2", ENOSPC, "ENOSPC", IfIgnored::loss, "the disk is full"},
    {"copy_file_range", ENOSPC, "ENOSPC", IfIgnored::loss, "the disk is full"},
    {"sendfile", EIO, "EIO", IfIgnored::loss, "the device failed"},
    {"fsync", EIO, "EIO", IfIgnored::loss, "writing back failed: earlier writes may be lost"},
    {"fdatasync", EIO, "EIO", IfIgnored::loss, "writing back failed: earlier writes may be lost"},
    {"msync", EIO, "EIO", IfIgnored::loss, "writing back failed: stores to the mapping may be lost"},
    {"sync_file_range", EIO, "EIO", IfIgnored::loss, "writing back failed"},
    {"close", EIO, "EIO", IfIgnored::loss, "a late error of an earlier write, as on network file systems"},
    {"ftruncate", EIO, "EIO", IfIgnored::loss, "the device failed"},
    {"truncate", EIO, "EIO", IfIgnored::loss, "the device failed"},
    {"fallocate", ENOSPC, "ENOSPC", IfIgnored::harmless, "the disk is full"},
    {"read", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    {"pread64", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    {"readv", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    {"preadv", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    {"preadv2", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    // Names of files.
    {"open", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"open", EACCES, "EACCES", IfIgnored::harmless, "no permission"},
    {"openat", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"openat", EACCES, "EACCES", IfIgnored::harmless, "no permission"},
    {"openat2", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"creat", ENOSPC, "ENOSPC", IfIgnored::harmless, "the disk is full"},
    {"rename", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"renameat", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"renameat2", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"link", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"linkat", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"symlink", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"symlinkat", ENOSPC, "ENOSPC", IfIgnored::loss, "the folder cannot grow on a full disk"},
    {"mkdir", ENOSPC, "ENOSPC", IfIgnored::harmless, "the disk is full"},
    {"mkdirat", ENOSPC, "ENOSPC", IfIgnored::harmless, "the disk is full"},
    {"unlink", EACCES, "EACCES", IfIgnored::harmless, "no permission to write to the folder"},
    {"unlinkat", EACCES, "EACCES", IfIgnored::harmless, "no permission to write to the folder"},
    {"rmdir", EACCES, "EACCES", IfIgnored::harmless, "no permission to write to the folder"},
    {"stat", EACCES, "EACCES", IfIgnored::harmless, "no permission for a folder of the path"},
    {"lstat", EACCES, "EACCES", IfIgnored::harmless, "no permission for a folder of the path"},
    {"statx", EACCES, "EACCES", IfIgnored::harmless, "no permission for a folder of the path"},
    {"newfstatat", EACCES, "EACCES", IfIgnored::harmless, "no permission for a folder of the path"},
    {"fstat", ENOMEM, "ENOMEM", IfIgnored::harmless, "the kernel has no memory"},
    {"access", EACCES, "EACCES", IfIgnored::harmless, "no permission"},
    {"faccessat", EACCES, "EACCES", IfIgnored::harmless, "no permission"},
    {"faccessat2", EACCES, "EACCES", IfIgnored::harmless, "no permission"},
    {"chdir", EACCES, "EACCES", IfIgnored::harmless, "no permission"},
    {"chmod", EPERM, "EPERM", IfIgnored::harmless, "the file belongs to someone else"},
    {"fchmod", EPERM, "EPERM", IfIgnored::harmless, "the file belongs to someone else"},
    {"fchmodat", EPERM, "EPERM", IfIgnored::harmless, "the file belongs to someone else"},
    {"readlink", EACCES, "EACCES", IfIgnored::harmless, "no permission for a folder of the path"},
    {"readlinkat", EACCES, "EACCES", IfIgnored::harmless, "no permission for a folder of the path"},
    {"getdents64", ENOENT, "ENOENT", IfIgnored::harmless, "the folder was removed meanwhile"},
    {"getcwd", ENOENT, "ENOENT", IfIgnored::harmless, "the folder was removed meanwhile"},
    {"statfs", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    {"fstatfs", EIO, "EIO", IfIgnored::harmless, "the device failed"},
    {"flock", ENOLCK, "ENOLCK", IfIgnored::harmless, "the kernel has no memory for locks"},
    // Descriptors.
    {"dup", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"dup3", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"pipe", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"pipe2", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"eventfd2", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"epoll_create1", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"epoll_ctl", ENOSPC, "ENOSPC", IfIgnored::harmless, "the user's limit of watched descriptors"},
    {"timerfd_create", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"inotify_init1", EMFILE, "EMFILE", IfIgnored::harmless, "the user's limit of instances"},
    {"inotify_add_watch", ENOSPC, "ENOSPC", IfIgnored::harmless, "the user's limit of watches"},
    {"memfd_create", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    // Memory, threads and processes.
    {"mmap", ENOMEM, "ENOMEM", IfIgnored::harmless, "no memory"},
    {"mremap", ENOMEM, "ENOMEM", IfIgnored::harmless, "no memory"},
    {"mprotect", ENOMEM, "ENOMEM", IfIgnored::harmless, "no memory to split a mapping"},
    {"munmap", ENOMEM, "ENOMEM", IfIgnored::harmless, "the limit of mappings, if one is split"},
    {"mlock", ENOMEM, "ENOMEM", IfIgnored::harmless, "the limit of locked memory"},
    {"clone", EAGAIN, "EAGAIN", IfIgnored::harmless, "the limit of processes"},
    {"clone3", EAGAIN, "EAGAIN", IfIgnored::harmless, "the limit of processes"},
    {"fork", EAGAIN, "EAGAIN", IfIgnored::harmless, "the limit of processes"},
    {"vfork", EAGAIN, "EAGAIN", IfIgnored::harmless, "the limit of processes"},
    // Network.
    {"socket", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"socketpair", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"bind", EADDRINUSE, "EADDRINUSE", IfIgnored::harmless, "another program has the address"},
    {"listen", EADDRINUSE, "EADDRINUSE", IfIgnored::harmless, "another program has the port"},
    {"connect", ECONNREFUSED, "ECONNREFUSED", IfIgnored::harmless, "no one listens"},
    {"connect", ETIMEDOUT, "ETIMEDOUT", IfIgnored::harmless, "the other machine does not answer"},
    {"accept", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"accept", ECONNABORTED, "ECONNABORTED", IfIgnored::harmless, "the client has gone"},
    {"accept4", EMFILE, "EMFILE", IfIgnored::harmless, "the process has no descriptor left"},
    {"accept4", ECONNABORTED, "ECONNABORTED", IfIgnored::harmless, "the client has gone"},
    {"sendto", ECONNRESET, "ECONNRESET", IfIgnored::loss, "the other side has closed the connection"},
    {"sendmsg", ECONNRESET, "ECONNRESET", IfIgnored::loss, "the other side has closed the connection"},
    {"recvfrom", ECONNREFUSED, "ECONNREFUSED", IfIgnored::harmless, "the other side refused the connection"},
    {"recvmsg", ECONNREFUSED, "ECONNREFUSED", IfIgnored::harmless, "the other side refused the connection"},
};
// clang-format on

/// The calls of a sweep that names none: files and their data, and memory.
inline constexpr std::string_view kSweptCalls =
    "%file,read,pread64,readv,write,pwrite64,writev,fsync,fdatasync,close,ftruncate,fallocate,getdents64,flock,mmap,"
    "mremap";

}  // namespace syscost
