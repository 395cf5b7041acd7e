// SPDX-License-Identifier: MIT
//
// Descriptors that a measured process keeps open for us: sockets, to our helpers and with descriptors in their queue.
//
// They have high numbers, which the user's own descriptors do not reach. A test may close them and get their numbers
// for files of its own, which we must not close or read. So we remember the device and the inode of each, and compare
// them by fstat, which needs no /proc.
//
// fork copies descriptors, and a tool at the other end of a socket may live as long as any copy. Children made by
// fork() close their copies; exec closes them in all other children. If the other end watches the process itself, a
// copy does no harm, and the child makes no call of ours (InChildren::kept).
#pragma once

namespace syscost {

enum class InChildren { closed, kept };

/// Takes over `fd`, which belongs to no other code, and returns its new number: `fd` itself if no high number is free.
/// Thread-safe.
int keep_descriptor(int fd, InChildren in_children = InChildren::closed);

/// True if `fd`, which keep_descriptor() returned, is still the same file. Otherwise errno is EBADF, or the error of
/// fstat (a seccomp filter may deny it). After EBADF the owner must forget the number: it may become another of our
/// descriptors.
bool is_still_ours(int fd);

/// Closes `fd`, unless the number belongs to other code now, and sets it to -1. -1 is allowed.
void close_descriptor(int& fd);

}  // namespace syscost
