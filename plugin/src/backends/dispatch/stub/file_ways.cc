// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/file_ways.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kHere = static_cast<std::uint32_t>(AT_FDCWD);

}  // namespace

Way way_of(std::uint64_t number) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      return Way::write;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
      return Way::file;
    case SYS_sync:
    case SYS_syncfs:
    case SYS_io_submit:
    case SYS_io_uring_enter:
      return Way::everything;
    case SYS_truncate:
      return Way::file_of_path;
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
      return Way::open;
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_mknod:
    case SYS_mknodat:
    case SYS_symlink:
    case SYS_symlinkat:
      return Way::make;
    case SYS_link:
    case SYS_linkat:
      return Way::link;
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
      return Way::remove;
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
      return Way::rename;
    case SYS_copy_file_range:
    case SYS_sendfile:
    case SYS_splice:
      return Way::copy;
    default:
      return Way::none;
  }
}

Paths paths_of(std::uint64_t number, const Arguments& given) {
  switch (number) {
    case SYS_openat:
    case SYS_openat2:
    case SYS_mkdirat:
    case SYS_mknodat:
    case SYS_unlinkat:
      return {{given.rdi, given.rsi}, {}, 0};
    case SYS_symlink:
      return {{kHere, given.rsi}, {}, 0};
    case SYS_symlinkat:
      return {{given.rsi, given.rdx}, {}, 0};
    case SYS_link:
    case SYS_rename:
      return {{kHere, given.rdi}, {kHere, given.rsi}, 0};
    case SYS_linkat:
    case SYS_renameat:
    case SYS_renameat2:
      return {{given.rdi, given.rsi}, {given.rdx, given.r10}, number == SYS_linkat ? given.r8 : 0};
    default:
      return {{kHere, given.rdi}, {}, 0};
  }
}

bool may_make_or_cut(const Call& call) {
  std::uint64_t flags = call.used.rsi;
  if (call.number == SYS_creat) return true;
  if (call.number == SYS_openat) flags = call.used.rdx;
  if (call.number == SYS_openat2) {
    if (!read_user(call.used.rdx, flags)) return false;
  }
  return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

bool has_vector(std::uint64_t number) {
  return number == SYS_writev || number == SYS_pwritev || number == SYS_pwritev2;
}

}  // namespace syscost::signal_safe
