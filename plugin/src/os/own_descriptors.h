// SPDX-License-Identifier: MIT
//
// Descriptors that a measured process keeps open for us: sockets, to our helpers and with descriptors in their queue.
//
// They sit at high numbers, out of the user's way. A test may close them, and be given their numbers for files of its
// own, which we must not close or read: so a file is known by the device and the inode that it had when it was taken
// over, which fstat tells without /proc.
//
// fork copies descriptors, and a tool at the other end of a socket may live as long as any copy. Children made by
// fork() close theirs; exec closes them in all others. Where the other end watches the process itself, a copy does no
// harm, and the child makes no call of ours.
#pragma once

namespace syscost {

enum class InChildren { closed, kept };

/// Takes over `fd`, which no one else has opened, and returns its new number: `fd` itself where no high one is free.
/// Thread-safe.
int keep_descriptor(int fd, InChildren in_children = InChildren::closed);

/// True when `fd`, which keep_descriptor() returned, is still what it was. Otherwise errno is EBADF, or says why it
/// cannot be told (a seccomp filter denies fstat). After EBADF the owner must forget the number: it may become another
/// of ours.
bool is_still_ours(int fd);

/// Closes `fd` unless it belongs to other code now, and sets it to -1. -1 is allowed.
void close_descriptor(int& fd);

}  // namespace syscost
